import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { driveOnce, ownRun, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const Post = Annotation.Root({
  topic: Annotation<string>(),
  draft: Annotation<string>(),
  url: Annotation<string>(),
});

function open(dir: string) {
  const ledger = new Ledger(dir);
  const builder = new StateGraph(Post)
    .addNode('write', async ({ topic }) => ({
      draft: await step('llm', ({ key }) => ledger.call('write', key, `All about ${topic}`)),
    }))
    .addNode('publish', async ({ draft }) => ({
      url: await step('post', ({ key }) => ledger.call('post', key, `https://example.org/${draft.length}`)),
    }))
    .addEdge(START, 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', END);
  const gates = { publish: ({ draft }: typeof Post.State) => ({ draft }) };
  return ownRun(
    durable(builder, { file: stateFileIn(dir), gates }),
    { topic: 'green tea' },
    ({ draft, url }) => ({ draft, url }),
  );
}

/** Waits at a gate that its graph declares in front of a node. */
export const ownGate: StateFileKind = {
  since: '0.1.0-27306ef',
  make: (dir) => driveOnce(open(dir)),
  resume: (dir) => resumeRun(open(dir), { approved: true }),
  resumed: {
    answered: ['node_gate'],
    status: 'completed',
    outcome: { draft: 'All about green tea', url: 'https://example.org/19' },
  },
  calls: ['write', 'post'],
};
