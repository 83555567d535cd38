import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';

/** The outside world of the graph: one call, with the key that tells a repeated one. */
export type Ask = (what: 'model' | 'publish', text: string, key: string) => Promise<string>;

const Post = Annotation.Root({
  topic: Annotation<string>(),
  outline: Annotation<string>(),
  draft: Annotation<string>(),
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

type PostState = typeof Post.State;

/** Two branches of one super-step with two calls each, a human asked before either, and a node that joins them. */
export function gatedBranches(file: string, ask: Ask) {
  const branch = (name: string) => async (): Promise<Partial<PostState>> => {
    const outline = await step('outline', ({ key }) => ask('model', `Outline ${name}`, key));
    return { log: [await step('text', ({ key }) => ask('model', outline, key))] };
  };
  const builder = new StateGraph(Post)
    .addNode('plan', async ({ topic }) => ({
      outline: await step('model', ({ key }) => ask('model', topic, key)),
    }))
    .addNode('left', branch('left'))
    .addNode('right', branch('right'))
    .addNode('join', async ({ log }) => ({
      draft: await step('model', ({ key }) => ask('model', log.join(), key)),
    }))
    .addEdge(START, 'plan')
    .addEdge('plan', 'left')
    .addEdge('plan', 'right')
    .addEdge(['left', 'right'], 'join')
    .addEdge('join', END);
  const show = ({ outline }: PostState) => ({ outline });
  return durable(builder, { file, gates: { left: show, right: show } });
}
