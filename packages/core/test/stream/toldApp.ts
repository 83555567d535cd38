import { setImmediate } from 'node:timers/promises';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});

/** Branches that tell what they do, a graph inside one of them, and a loop: no two chunks are the same. */
export function toldApp(file: string) {
  const teller =
    (name: string) =>
    async ({ log }: typeof State.State, { writer }: { writer?: (chunk: unknown) => void }) => {
      const at = `${name} ${log.length}`;
      writer?.(`${at} begins`);
      await setImmediate(); // what was told is in the file before what comes of it
      const done = await step('work', async () => `${at} works`);
      writer?.(`${at} ends`);
      return { log: [done] };
    };
  const inner = new StateGraph(State)
    .addNode('deep', teller('deep'))
    .addNode('deeper', teller('deeper'))
    .addEdge(START, 'deep')
    .addEdge('deep', 'deeper')
    .addEdge('deeper', END)
    .compile();
  const builder = new StateGraph(State)
    .addNode('plan', teller('plan'))
    .addNode('left', teller('left'))
    .addNode('right', teller('right'))
    .addNode('inside', async (state) => ({
      log: (await inner.invoke({ log: state.log })).log.slice(state.log.length),
    }))
    .addNode('join', teller('join'))
    .addEdge(START, 'plan')
    .addEdge('plan', 'left')
    .addEdge('plan', 'right')
    .addEdge('plan', 'inside')
    .addEdge(['left', 'right', 'inside'], 'join')
    .addConditionalEdges('join', ({ log }) => (log.length < 12 ? 'plan' : END));
  return durable(builder, { file, guards: { maxDepth: 1_000 } });
}
