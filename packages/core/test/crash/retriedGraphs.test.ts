import { Annotation, MemorySaver, Send, START, StateGraph } from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';
import { type Death, DyingFile } from '../support/DyingFile.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';

/** Graphs; `DEVS_RETRIED_SEED=42` repeats those of a failure. */
const CASES = howMany('DEVS_RETRIED_GRAPHS', 8);
const SEED = process.env['DEVS_RETRIED_SEED'];

const MAX_DEPTH = 3;

/** What a task does, in order, and after which of these it is down: once for each. */
interface Work {
  readonly acts: readonly Act[];
  readonly failsAfter: readonly number[];
}

/** A call, or a graph that the task runs to its end. */
type Act = 'call' | Chain;

/** The nodes of a graph, one after the other. */
type Chain = readonly Node[];

/** What its tasks do side by side, retried or not: then the task around the graph fails; a node that `isGraph` is the graph and does nothing of its own. */
type Node =
  | { readonly branches: readonly Work[]; readonly isGraph: false; readonly isRetried: boolean }
  | { readonly chain: Chain; readonly isGraph: true; readonly isRetried: boolean };

const deep = { maxDepth: MAX_DEPTH, depthIdentifier: 'graphs' };

const { chain: chains } = fc.letrec<{ act: Act; work: Work; node: Node; chain: Chain }>((tie) => ({
  act: fc.oneof(
    deep,
    { weight: 2, arbitrary: fc.constant('call' as const) },
    { weight: 3, arbitrary: tie('chain') },
  ),
  work: fc.record({
    acts: fc.array(tie('act'), { minLength: 1, maxLength: 3, ...deep }),
    failsAfter: fc.array(fc.nat(2), { maxLength: 2 }),
  }),
  node: fc.oneof(
    deep,
    {
      weight: 4,
      arbitrary: fc.record({
        branches: fc.array(tie('work'), { minLength: 1, maxLength: 2, ...deep }),
        isGraph: fc.constant(false as const),
        isRetried: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        chain: tie('chain'),
        isGraph: fc.constant(true as const),
        isRetried: fc.boolean(),
      }),
    },
  ),
  chain: fc.array(tie('node'), { minLength: 1, maxLength: 2, ...deep }),
}));

const State = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  /** Where this is, as an author would say. */
  place: Annotation<string>({ reducer: (_, right) => right, default: () => '' }),
});

/** What is outside of all processes. */
interface World {
  readonly call: (name: string, place: string) => Promise<string>;
  /** Whether something is down now that was not yet. */
  readonly fails: (what: string) => boolean;
}

class Flaky extends Error {}

/** Tasks side by side fail together. */
const isFlaky = (error: unknown): boolean =>
  error instanceof Flaky || (error instanceof AggregateError && error.errors.every(isFlaky));

const RETRIED = {
  retryPolicy: {
    maxAttempts: 100,
    initialInterval: 1,
    maxInterval: 1,
    jitter: false,
    logWarning: false,
    retryOn: isFlaky,
  },
} as const;

type Loose = {
  addNode(name: string, run: unknown, options?: object): unknown;
  addEdge(from: string, to: string): unknown;
  addConditionalEdges(from: string, route: unknown): unknown;
  compile(options?: object): { invoke(input: unknown, config?: object): Promise<{ log: readonly string[] }> };
};

function builderOf(chain: Chain, world: World, isOutermost = false): Loose {
  const builder = new StateGraph(State) as unknown as Loose;
  for (const [at, node] of chain.entries()) {
    const name = `n${at}`;
    const options = isOutermost || node.isRetried ? RETRIED : {};
    const before = at === 0 ? START : `joined${at - 1}`;
    builder.addNode(`joined${at}`, () => ({}));
    builder.addEdge(name, `joined${at}`);
    if (node.isGraph) {
      builder.addNode(name, builderOf(node.chain, inside(world, name)).compile(), options);
      builder.addEdge(before, name);
      continue;
    }
    const run = async ({ branch, place }: { branch: number; place: string }) => ({
      log: await done(node.branches[branch] as Work, `${place}/${name}.${branch}`, world),
    });
    builder.addNode(name, run, options);
    builder.addConditionalEdges(before, ({ place }: { place: string }) =>
      node.branches.map((_, branch) => new Send(name, { branch, place })),
    );
  }
  return builder;
}

/** The graph of a node has the state of the graph around it, and its tasks the same place. */
function inside(world: World, name: string): World {
  return {
    call: (call, place) => world.call(call, `${name}>${place}`),
    fails: (what) => world.fails(`${name}>${what}`),
  };
}

async function done(work: Work, place: string, world: World): Promise<readonly string[]> {
  const log: string[] = [];
  for (const [at, act] of work.acts.entries()) {
    if (act === 'call') log.push(await world.call(`call ${at}`, place));
    else
      log.push(
        ...(
          await builderOf(act, world)
            .compile()
            .invoke({ place: `${place}/${at}` })
        ).log,
      );
    for (const [time, after] of work.failsAfter.entries())
      if (after === at && world.fails(`${place}@${time}`)) throw new Flaky();
  }
  return log;
}

/** Each thing is down once. */
function downOnce(): World['fails'] {
  const met = new Set<string>();
  return (what) => !met.has(what) && met.add(what).size > 0;
}

async function byLangGraph(chain: Chain): Promise<readonly string[]> {
  const world = { call: async (name: string, place: string) => `${place} ${name}`, fails: downOnce() };
  const graph = builderOf(chain, world, true).compile({ checkpointer: new MemorySaver() });
  return (await graph.invoke({ place: '' }, { configurable: { thread_id: 'plain' } })).log;
}

const deaths = fc.array(
  fc.record({ write: fc.integer({ min: 5, max: 80 }), side: fc.constantFrom('before', 'after') }),
  { maxLength: 2 },
);

/** What all processes of one run have done outside. */
class Outside {
  calls = 0;
  readonly fails = downOnce();
  /** Calls that were made again though their node was given their result. */
  readonly madeAgain: string[] = [];
  readonly #given = new Set<string>();
  readonly #keys = new Map<string, string>();

  async call(name: string, place: string, isAlive: () => boolean): Promise<string> {
    const what = `${place} ${name}`;
    const said = await step(name, ({ key }) => {
      if (!isAlive()) throw new Error('The process is gone.');
      this.calls += 1;
      if (this.#given.has(what)) this.madeAgain.push(what);
      expect(this.#keys.get(what) ?? key).toBe(key);
      this.#keys.set(what, key);
      return what;
    });
    this.#given.add(said);
    return said;
  }
}

/** One process: `null` where it died. */
async function inProcess(
  chain: Chain,
  outside: Outside,
  at: { readonly dbPath: string; readonly run: string; readonly death: Death | null },
) {
  const db = createDatabase({ dbPath: at.dbPath });
  db.pragma('synchronous = OFF'); // dying here is closing: what was committed is in the file
  db.prepare('UPDATE threads SET lease_owner = NULL').run();
  new DyingFile(db, at.death);
  const world: World = {
    call: (name, place) => outside.call(name, place, () => db.open),
    fails: outside.fails,
  };
  try {
    return await durable(builderOf(chain, world, true) as never, { db }).run(at.run, { place: '' } as never);
  } catch (error) {
    if (db.open) throw error;
    return null;
  } finally {
    if (db.open) db.close();
  }
}

describe('graphs in retried tasks, at every depth', () => {
  test('make every call once, and end as by LangGraph alone', {
    timeout: 60_000 + CASES * 2_000,
  }, async ({ dbPath, annotate }) => {
    const seen = { runs: 0, calls: 0, deaths: 0 };
    const property = fc.asyncProperty(chains, deaths, async (chain, ends) => {
      seen.runs += 1;
      const run = `run-${seen.runs}`;
      const outside = new Outside();
      for (const death of [...ends, null]) {
        const ended = await inProcess(chain, outside, { dbPath, run, death });
        expect(outside.madeAgain).toEqual([]);
        if (ended === null) seen.deaths += 1;
        else {
          expect(ended).toMatchObject({ status: 'completed', values: { log: await byLangGraph(chain) } });
          break;
        }
      }
      seen.calls += outside.calls;
    });
    await fc.assert(property, { numRuns: CASES, ...(SEED !== undefined && { seed: Number(SEED) }) });
    await annotate(JSON.stringify(seen));
  });
});
