import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { step } from '../../../src/engine/node/step.ts';

/** What a run has done, or was told of, in order: `ran node`, `left node`, `called step`, `used step`, `asked`, `decided`, `ended`, … */
export type Tell = (fact: string) => void;

const State = Annotation.Root({
  visits: Annotation<number>(),
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});
type Cut = typeof State.State;

/** Visits of the node that is quick, so that many are between two turns of the event loop. */
const QUICK_VISITS = 6;

/** Two branches with calls, a circle of quick visits, a question, and a call behind it. */
export function cutGraph(tell: Tell) {
  const node =
    (name: string, work: (state: Cut) => Promise<string> | string) =>
    async (state: Cut): Promise<Partial<Cut>> => {
      const visit = `${name}-${state.log.length}`;
      tell(`ran ${visit}`);
      const said = await work(state);
      tell(`left ${visit}`);
      return { visits: (state.visits ?? 0) + (name === 'quick' ? 1 : 0), log: [said] };
    };
  const branch =
    (name: string) =>
    async (state: Cut): Promise<Partial<Cut>> => {
      const { log = [] } = await node(name, () => call(name, tell))(state);
      return { log };
    };
  return new StateGraph(State)
    .addNode(
      'plan',
      node('plan', () => 'planned'),
    )
    .addNode('one', branch('one'))
    .addNode('two', branch('two'))
    .addNode(
      'quick',
      node('quick', ({ visits = 0 }) => `quick ${visits}`),
    )
    .addNode(
      'ask',
      node('ask', () => `answered ${String(interrupt('May it be published?'))}`),
    )
    .addNode(
      'publish',
      node('publish', () => call('publish', tell)),
    )
    .addEdge(START, 'plan')
    .addEdge('plan', 'one')
    .addEdge('plan', 'two')
    .addEdge(['one', 'two'], 'quick')
    .addConditionalEdges('quick', ({ visits }) => (visits < QUICK_VISITS ? 'quick' : 'ask'), ['quick', 'ask'])
    .addEdge('ask', 'publish')
    .addEdge('publish', END);
}

async function call(name: string, tell: Tell): Promise<string> {
  const said = await step(name, async () => {
    tell(`called ${name}`);
    await sleep(1);
    return `said by ${name}`;
  });
  tell(`used ${name}`);
  return said;
}

export const RUN = 'run';
export const INPUT = { visits: 0 };
export const ANSWER = { value: 'yes', by: { kind: 'human', id: 'ada' } } as const;
