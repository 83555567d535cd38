import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { driveOnce, ownRun, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const State = Annotation.Root({ topic: Annotation<string>(), text: Annotation<string>() });

function open(dir: string) {
  const ledger = new Ledger(dir);
  const builder = new StateGraph(State)
    .addNode('write', async ({ topic }) => {
      const parts: string[] = [];
      for (const name of ['head', 'body', 'end']) {
        parts.push(await step(name, ({ key }) => ledger.call(name, key, `${name} of ${topic}`)));
      }
      return { text: parts.join(', ') };
    })
    .addEdge(START, 'write')
    .addEdge('write', END);
  return ownRun(
    durable(builder, { file: stateFileIn(dir), budget: { calls: 2 } }),
    { topic: 'tea' },
    ({ text }) => text,
  );
}

/** Waits in the middle of a node whose next call would pass the budget. */
export const budget: StateFileKind = {
  since: '0.1.0-27306ef',
  make: (dir) => driveOnce(open(dir)),
  resume: (dir) => resumeRun(open(dir), { action: 'raise', calls: 3 }),
  resumed: {
    answered: ['budget'],
    status: 'completed',
    outcome: 'head of tea, body of tea, end of tea',
  },
  calls: ['head', 'body', 'end'],
};
