import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

/** A small state of its own: what nodes did, in order, and an answer a human gave. */
export const OwnState = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  answer: Annotation<unknown>(),
});

export type Own = typeof OwnState.State;
export type OwnUpdate = typeof OwnState.Update;
type OwnNode = (state: Own) => OwnUpdate | Promise<OwnUpdate>;

export const ada = { kind: 'human', id: 'ada' } as const;
export const bob = { kind: 'human', id: 'bob' } as const;

/** A node that only says that it ran. */
export const says =
  (word: string): OwnNode =>
  () => ({ log: [word] });

/** An update that says how much its node repeats itself. */
export const repeating = <Update extends object>(update: Update, entropyScore: number): Update => ({
  ...update,
  __metadata__: { entropyScore },
});

/** Two nodes in a row, `first` and `second`. */
export function twoSteps(first: OwnNode = says('first'), second: OwnNode = says('second')) {
  return new StateGraph(OwnState)
    .addNode('first', first)
    .addNode('second', second)
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', END);
}

/** Two branches of one super-step, `left` and `right`, after `start`. */
export function twoBranches(
  left: OwnNode = says('left'),
  right: OwnNode = says('right'),
  start: OwnNode = says('start'),
) {
  return new StateGraph(OwnState)
    .addNode('start', start)
    .addNode('left', left)
    .addNode('right', right)
    .addEdge(START, 'start')
    .addEdge('start', 'left')
    .addEdge('start', 'right')
    .addEdge('left', END)
    .addEdge('right', END);
}

/** Three nodes in a circle; `onVisit` is told of each. It never ends by itself. */
export function circle(onVisit: (node: string) => void = () => {}) {
  const node = (name: string) => () => {
    onVisit(name);
    return {};
  };
  return new StateGraph(OwnState)
    .addNode('a', node('a'))
    .addNode('b', node('b'))
    .addNode('c', node('c'))
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('b', 'c')
    .addEdge('c', 'a');
}
