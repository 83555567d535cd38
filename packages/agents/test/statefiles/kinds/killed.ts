import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { killedChild } from '../killedChild.ts';
import { Ledger } from '../Ledger.ts';
import { ownRun, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';
import { longText, sha256 } from '../texts.ts';

const Post = Annotation.Root({
  topic: Annotation<string>(),
  outline: Annotation<string>(),
  url: Annotation<string>(),
  told: Annotation<string>(),
});

/** Large enough to be kept as a blob. */
const DRAFT_LINES = 150;

type Call = (what: string, key: string) => Promise<string>;

function open(dir: string, post: Call) {
  const ledger = new Ledger(dir);
  const builder = new StateGraph(Post)
    .addNode('plan', async ({ topic }) => ({
      outline: await step('llm', ({ key }) => ledger.call('plan', key, `Outline of ${topic}`)),
    }))
    .addNode('publish', async ({ outline }) => {
      const draft = await step('draft', ({ key }) =>
        ledger.call('draft', key, longText(outline, DRAFT_LINES)),
      );
      const title = await step('title', ({ key }) => ledger.call('title', key, draft.slice(0, 8)));
      return { url: await step('post', ({ key }) => post(`${title} ${sha256(draft).slice(0, 8)}`, key)) };
    })
    .addNode('announce', async ({ url }) => ({
      told: await step('mail', ({ key }) => ledger.call('announce', key, `See ${url}`)),
    }))
    .addEdge(START, 'plan')
    .addEdge('plan', 'publish')
    .addEdge('publish', 'announce')
    .addEdge('announce', END);
  return ownRun(durable(builder, { file: stateFileIn(dir) }), { topic: 'green tea' }, ({ told }) => told);
}

/** Killed in a call to the outside, with two recorded steps of the same node behind it. */
export const killed: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => {
    await open(dir, () => Promise.resolve('')).close();
    await killedChild('killed', dir);
  },
  driveToDeath: async (dir) => {
    await open(dir, (_, key) => new Ledger(dir).dieOf('post', key)).drive();
  },
  resume: (dir) =>
    resumeRun(
      open(dir, (post, key) => new Ledger(dir).call('post', key, `https://example.org/${post}`)),
      {},
    ),
  resumed: { answered: [], status: 'completed', outcome: 'See https://example.org/4d6ac730 65edb47f' },
  calls: ['plan', 'draft', 'title', 'post', 'post', 'announce'],
  madeAgain: 'post',
};
