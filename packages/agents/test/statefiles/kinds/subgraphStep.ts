import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { driveOnce, ownRun, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const Post = Annotation.Root({
  topic: Annotation<string>(),
  draft: Annotation<string>(),
  verdict: Annotation<string>(),
});

function open(dir: string) {
  const ledger = new Ledger(dir);
  const editing = new StateGraph(Post)
    .addNode('correct', async ({ draft }) => ({
      draft: await step('correct', ({ key }) => ledger.call('correct', key, `${draft}, corrected`)),
    }))
    .addNode('judge', async ({ draft }) => {
      const opinion = await step('judge', ({ key }) => ledger.call('judge', key, `${draft}: fine`));
      const { approved } = interrupt<string, { readonly approved: boolean }>(opinion);
      return { verdict: `${opinion}, ${approved ? 'approved' : 'rejected'}` };
    })
    .addEdge(START, 'correct')
    .addEdge('correct', 'judge')
    .addEdge('judge', END)
    .compile();
  const builder = new StateGraph(Post)
    .addNode('write', async ({ topic }) => ({
      draft: await step('write', ({ key }) => ledger.call('write', key, `All about ${topic}`)),
    }))
    .addNode('edit', editing)
    .addEdge(START, 'write')
    .addEdge('write', 'edit')
    .addEdge('edit', END);
  return ownRun(
    durable(builder, { file: stateFileIn(dir) }),
    { topic: 'green tea' },
    ({ verdict }) => verdict,
  );
}

/** Waits inside a subgraph, in a node that has recorded a step, behind a node that has too. */
export const subgraphStep: StateFileKind = {
  since: '0.1.0-27306ef',
  make: (dir) => driveOnce(open(dir)),
  resume: (dir) => resumeRun(open(dir), { approved: true }),
  resumed: {
    answered: ['interrupt'],
    status: 'completed',
    outcome: 'All about green tea, corrected: fine, approved',
  },
  earlier: { '0.1.0-27306ef': { answered: ['node_gate'] } },
  calls: ['write', 'correct', 'judge'],
};
