import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { ownRun, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const Notes = Annotation.Root({ version: Annotation<string>(), receipt: Annotation<string>() });

function open(dir: string) {
  const ledger = new Ledger(dir);
  const builder = new StateGraph(Notes)
    .addNode('publish', async ({ version }) => ({
      receipt: await step('publish', ({ key }) => ledger.call('publish', key, `${version} is out`)),
    }))
    .addEdge(START, 'publish')
    .addEdge('publish', END);
  const publish = {
    show: ({ version }: typeof Notes.State) => ({ version }),
    approvals: { of: ['ada', 'bob', 'eve'], count: 2 },
    deadlines: [{ within: 3_600_000 * 100_000, do: 'reject' }],
  } as const;
  return ownRun(
    durable(builder, { file: stateFileIn(dir), gates: { publish } }),
    { version: '2.0' },
    ({ receipt }) => receipt,
  );
}

/** Has one of the two approvals it waits for, and a deadline far away. */
export const voted: StateFileKind = {
  since: '0.1.0-e36ae08',
  make: async (dir) => {
    const run = open(dir);
    await run.drive();
    const [gate] = await run.gates();
    if (gate !== undefined) await run.decide(gate, { approved: true, by: { kind: 'human', id: 'eve' } });
    await run.close();
  },
  resume: (dir) => resumeRun(open(dir), { approved: true }),
  resumed: { answered: ['node_gate'], status: 'completed', outcome: '2.0 is out' },
  calls: ['publish'],
};
