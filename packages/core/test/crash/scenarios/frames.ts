import { setTimeout as sleep } from 'node:timers/promises';
import {
  Annotation,
  Command,
  END,
  INTERRUPT,
  interrupt,
  isInterrupted,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { runGraphIteratively } from '../../../src/engine/frames/flatIterativeAdapter.ts';
import { type CompiledLangGraph, recurse, recurseAll } from '../../../src/engine/frames/recurse.ts';
import { SqliteSaver } from '../../../src/engine/saver/SqliteSaver.ts';
import { runByLangGraph } from '../../support/runByLangGraph.ts';
import { Continued, type Effect, type Process, type Scenario } from './Scenario.ts';

// Source: 9_ROADMAP-RISK-401. The stack of frames is in the state file, and in no process.

/** One frame: it works itself, or has parts, of which it runs one after the other, all at once, or by one question. */
interface Part {
  readonly name: string;
  readonly how: 'works' | 'asks' | 'in turn' | 'branches' | 'at once';
  readonly parts: readonly Part[];
}

const part = (name: string, how: Part['how'], ...parts: readonly Part[]): Part => ({ name, how, parts });

/** Works last this long: most kills fall into one. */
const WORK_MS = 4;

/** Six levels, eleven pieces of work, two of them side by side in one super-step, and a human asked in two frames. */
const TREE = part(
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

type TreeGraph = CompiledLangGraph<Partial<typeof State.State>, typeof State.State>;

interface Outside {
  /** Told of each piece of work as it begins. */
  readonly works: (name: string) => void;
  readonly ask: (name: string) => string;
}

function frameTree({ works, ask }: Outside): TreeGraph {
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

const answerTo = (name: string): string => `answer for ${name}`;

/** Drives to its end, or to a question: a human answers one, and another process goes on. */
async function live({ db, effect }: Process, run: string, answers: unknown): Promise<unknown> {
  const graph = frameTree({ works: (name) => effect(name), ask: (name) => interrupt<string, string>(name) });
  const input = answers === undefined ? { part: TREE } : new Command({ resume: answers as object });
  const result: unknown = await runGraphIteratively(graph, input, {
    checkpointer: new SqliteSaver(db),
    threadId: run,
  });
  if (!isInterrupted<string>(result)) return (result as typeof State.State).log;
  const [question] = result[INTERRUPT];
  return new Continued({ [question?.id ?? '']: answerTo(question?.value ?? '') });
}

/** Branches that work in one super-step at most. */
const BRANCHES = 2;

/** A life repeats what was running when the one before died: siblings of one super-step, each once. */
function repeatedBesides(effects: readonly Effect[]): readonly string[] {
  const before = new Set<string>();
  return [...new Set(effects.map(({ life }) => life))].flatMap((each) => {
    const works = effects.filter(({ life }) => life === each).map(({ what }) => what);
    const repeated = works.filter((name) => before.has(name));
    const parents = new Set(repeated.map((name) => name.slice(0, name.lastIndexOf('.'))));
    works.forEach(before.add, before);
    const isRight = new Set(works).size === works.length && repeated.length <= BRANCHES && parents.size <= 1;
    return isRight ? [] : [`process ${each}: ${works.join(', ')}`];
  });
}

let plain: Promise<readonly string[]> | null = null;

/** The log of plain recursion, by LangGraph alone. */
function plainLog(): Promise<readonly string[]> {
  plain ??= runByLangGraph(() => frameTree({ works: () => {}, ask: answerTo }).invoke({ part: TREE })).then(
    ({ log }) => log,
  );
  return plain;
}

const threadsIn = (db: Database): unknown =>
  db.prepare('SELECT DISTINCT thread_id FROM checkpoints').pluck().all();

export const frames: Scenario = {
  what: 'a run of nested frames',
  deaths: { atWrites: 2, byTheClock: 4 },
  prepare: async () => {},
  start: (process) => (run, answers) => live(process, run, answers),
  expected: async (run) => ({
    outcome: await plainLog(),
    inFile: { integrity: 'ok', threads: [run] },
    outside: [],
  }),
  inFile: ({ db }) => ({
    integrity: db.pragma('integrity_check', { simple: true }),
    threads: threadsIn(db),
  }),
  outside: repeatedBesides,
};
