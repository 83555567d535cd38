import { child, durable, type Runs, sleep, step } from '@devs/core/langgraph';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';

/** Makes a call that costs something, and returns what it alone has returned. */
export type Call = (run: string, name: string, signal: AbortSignal) => Promise<string>;

const Life = Annotation.Root({
  run: Annotation<string>(),
  /** `name=nonce` of each call that is recorded. */
  calls: Annotation<readonly string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

/** Each is made once in a life, but for those in flight when their driver dies. */
export const CALLS: readonly string[] = [
  'left 1',
  'left 2',
  'right 1',
  'right 2',
  'rested',
  'leaf',
  'asked',
  'last',
];

/** What a state with a call has, too: nodes end one after the other, and both sides at once. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  last: ['asked'],
  asked: ['leaf'],
  leaf: ['rested'],
  rested: ['left 1', 'left 2', 'right 1', 'right 2'],
};

/** Whether a life can have a state with these, `name=nonce` each: none is missing that came before, none is there twice. */
export function isPossible(calls: readonly string[]): boolean {
  const names = calls.map((call) => call.slice(0, call.indexOf('=')));
  const has = new Set(names);
  return (
    has.size === names.length && names.every((name) => (BEFORE[name] ?? []).every((each) => has.has(each)))
  );
}

/** Both sides work at the same time, all else after them. */
export const branchOf = (name: string): string => /^(?:left|right)/.exec(name)?.[0] ?? 'main';

/** The whole of what a run may do: two branches, a timer, a child, a question. */
export function lifeApp(runs: Runs, call: Call) {
  const made = async (run: string, name: string): Promise<string> =>
    `${name}=${await step(name, ({ signal }) => call(run, name, signal))}`;
  const leaf = durable(
    new StateGraph(Life)
      .addNode('work', async ({ run }) => ({ calls: [await made(run, 'leaf')] }))
      .addEdge(START, 'work')
      .addEdge('work', END),
    { runs, graph: 'leaf' },
  );
  const branch =
    (side: string) =>
    async ({ run }: typeof Life.State) => ({
      calls: [await made(run, `${side} 1`), await made(run, `${side} 2`)],
    });
  const builder = new StateGraph(Life)
    .addNode('left', branch('left'))
    .addNode('right', branch('right'))
    .addNode('rest', async ({ run }) => {
      await sleep(20);
      return { calls: [await made(run, 'rested')] };
    })
    .addNode('raise', async ({ run }) => ({
      calls: (await child(leaf, `${run}-leaf`, { run })).values?.calls ?? [],
    }))
    .addNode('ask', async ({ run }) => {
      const calls = [await made(run, 'asked')];
      return interrupt('Well?') === 'yes' ? { calls } : { calls: [] };
    })
    .addNode('last', async ({ run }) => ({ calls: [await made(run, 'last')] }))
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .addEdge(['left', 'right'], 'rest')
    .addEdge('rest', 'raise')
    .addEdge('raise', 'ask')
    .addEdge('ask', 'last')
    .addEdge('last', END);
  return durable(builder, { runs, graph: 'life' });
}

export type LifeApp = ReturnType<typeof lifeApp>;
