import { child as childRun, durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { ADA, ownRun, RUN, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const Research = Annotation.Root({ topic: Annotation<string>(), facts: Annotation<string>() });
const Report = Annotation.Root({ topic: Annotation<string>(), findings: Annotation<string>() });

const CHILD = `${RUN}/research`;

function appsIn(dir: string) {
  const ledger = new Ledger(dir);
  const file = stateFileIn(dir);
  const researching = new StateGraph(Research)
    .addNode('look', async ({ topic }) => ({
      facts: await step('look', ({ key }) => ledger.call('look', key, `facts on ${topic}`)),
    }))
    .addNode('check', async ({ facts }) => ({ facts: `${facts}, checked` }))
    .addEdge(START, 'look')
    .addEdge('look', 'check')
    .addEdge('check', END);
  const research = durable(researching, { file, gates: { check: ({ facts }) => ({ facts }) } });
  const reporting = new StateGraph(Report)
    .addNode('delegate', async ({ topic }) => {
      const { values } = await childRun(research, CHILD, { topic });
      return { findings: values?.facts ?? 'nothing' };
    })
    .addNode('publish', async ({ findings }) => {
      await step('publish', ({ key }) => ledger.call('publish', key, findings));
      return {};
    })
    .addEdge(START, 'delegate')
    .addEdge('delegate', 'publish')
    .addEdge('publish', END);
  return { research, report: durable(reporting, { file }) };
}

/** Waits for a child that waits at a gate of its own. */
export const child: StateFileKind = {
  since: '0.1.0-e36ae08',
  make: async (dir) => {
    const { report, research } = appsIn(dir);
    await report.run(RUN, { topic: 'tea' });
    research.close();
    report.close();
  },
  resume: async (dir) => {
    const { report, research } = appsIn(dir);
    const answered: string[] = [];
    for (const gate of await research.gates(CHILD)) {
      await research.decide(gate, { approved: true, by: ADA });
      answered.push(gate.kind);
    }
    const rest = await resumeRun(
      ownRun(report, { topic: 'tea' }, ({ findings }) => findings),
      { approved: true },
    );
    research.close();
    return { ...rest, answered: [...answered, ...rest.answered] };
  },
  resumed: { answered: ['node_gate'], status: 'completed', outcome: 'facts on tea, checked' },
  calls: ['look', 'publish'],
};
