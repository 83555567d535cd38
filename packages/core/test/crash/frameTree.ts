import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, END, Send, START, StateGraph } from '@langchain/langgraph';
import { type CompiledLangGraph, recurse, recurseAll } from '../../src/engine/frames/recurse.ts';

/** One frame: it works itself, or has parts, of which it runs one after the other, all at once, or by one question. */
export interface Part {
  readonly name: string;
  readonly how: 'works' | 'asks' | 'in turn' | 'branches' | 'at once';
  readonly parts: readonly Part[];
}

const part = (name: string, how: Part['how'], ...parts: readonly Part[]): Part => ({ name, how, parts });

/** Works last this long: most kills fall into one. */
const WORK_MS = 4;

/** Six levels, eleven pieces of work, two of them side by side in one super-step, and a human asked in two frames. */
export const TREE = part(
  'r',
  'in turn',
  part('r.a', 'branches', part('r.a.1', 'works'), part('r.a.2', 'in turn', part('r.a.2.x', 'works'))),
  part('r.b', 'at once', part('r.b.1', 'works'), part('r.b.2', 'asks'), part('r.b.3', 'works')),
  part(
    'r.c',
    'in turn',
    part('r.c.1', 'in turn', part('r.c.1.1', 'at once', part('r.c.1.1.1', 'in turn', part('deep', 'works')))),
  ),
  part(
    'r.d',
    'branches',
    part('r.d.1', 'works'),
    part('r.d.2', 'asks'),
    part('r.d.3', 'at once', part('r.d.3.x', 'works'), part('r.d.3.y', 'works')),
  ),
);

const State = Annotation.Root({
  part: Annotation<Part>(),
  log: Annotation<readonly string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});

export type TreeGraph = CompiledLangGraph<Partial<typeof State.State>, typeof State.State>;

export interface Outside {
  /** Told of each piece of work as it begins. */
  readonly works: (name: string) => void;
  readonly ask: (name: string) => string;
}

export function frameTree({ works, ask }: Outside): TreeGraph {
  const work = async (name: string): Promise<string> => {
    works(name);
    await sleep(WORK_MS);
    return `worked ${name}`;
  };
  const run = async (child: Part): Promise<readonly string[]> => (await recurse(graph, { part: child })).log;
  const graph: TreeGraph = new StateGraph(State)
    .addNode('works', async ({ part: { name } }) => ({ log: [await work(name)] }))
    .addNode('asks', ({ part: { name } }) => ({ log: [`${name}: ${ask(name)}`] }))
    .addNode('in turn', async ({ part: { parts } }) => {
      const logs: string[] = [];
      for (const child of parts) logs.push(...(await run(child)));
      return { log: logs };
    })
    .addNode('at once', async ({ part: { parts } }) => {
      const states = await recurseAll(parts.map((child) => ({ graph, input: { part: child } })));
      return { log: states.flatMap(({ log }) => log) };
    })
    // A branch that works does so in the frame of its parent, beside its siblings.
    .addNode('branch', async ({ part: child }) => ({
      log: child.how === 'works' ? [await work(child.name)] : await run(child),
    }))
    .addNode('leave', ({ part: { name }, log }) => ({ log: [`left ${name} with ${log.length}`] }))
    .addConditionalEdges(START, ({ part: { how, parts } }) =>
      how === 'branches' ? parts.map((child) => new Send('branch', { part: child })) : how,
    )
    .addEdge('works', 'leave')
    .addEdge('asks', 'leave')
    .addEdge('in turn', 'leave')
    .addEdge('at once', 'leave')
    .addEdge('branch', 'leave')
    .addEdge('leave', END)
    .compile();
  return graph;
}
