import { MemorySaver } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { durable } from '../../src/engine/app/durable.ts';

/** What came of a call: what it returned, as no saver has read it back yet, or what it threw. */
export interface Ended {
  readonly output?: unknown;
  readonly thrown?: { readonly name: string; readonly message: string };
}

/** What a node was given, as it was, in the order of the visits. */
export type Given = (node: string, value: unknown) => void;

/** The parts of a builder that both ways of compiling it need, whatever its types. */
interface AnyBuilder {
  compile(options: { readonly checkpointer: MemorySaver }): {
    invoke(input: unknown, config: object): Promise<unknown>;
    getState(config: object): Promise<{ readonly values: unknown }>;
  };
}

interface Told {
  readonly given: readonly (readonly [string, unknown])[];
  readonly ended: Ended;
  /** Of the state; `null` where it has none, or was thrown. */
  readonly values: unknown;
}

let threads = 0;

async function outcomeOf(run: () => Promise<unknown>): Promise<Ended> {
  try {
    return { output: await run() };
  } catch (error) {
    const { name, message } = error as Error;
    return { thrown: { name, message } };
  }
}

/** Runs what `build` builds by LangGraph alone. */
export async function byLangGraph(build: (given: Given) => unknown, input: unknown): Promise<Told> {
  const given: [string, unknown][] = [];
  const builder = build((node, value) => given.push([node, value])) as AnyBuilder;
  const graph = builder.compile({ checkpointer: new MemorySaver() });
  const configurable = { thread_id: 'plain' };
  const ended = await outcomeOf(() => graph.invoke(input, { configurable }));
  const values = ended.thrown === undefined ? (await graph.getState({ configurable })).values : null;
  return { given, ended, values };
}

/** What `run` has returned. */
interface Result {
  readonly status: string;
  readonly reason: string | null;
  /** Of its `values`. */
  readonly returned: unknown;
}

/**
 * Runs it by `durable`: as a driven run, whose result tells only the message of an error, and once more as the plain
 * graph it is, whose error is the thrown one.
 */
export async function byDurable(
  build: (given: Given) => unknown,
  input: unknown,
  db: Database,
): Promise<Told & Result> {
  const given: [string, unknown][] = [];
  let isTelling = true;
  const builder = build((node, value) => {
    if (isTelling) given.push([node, value]);
  });
  const app = durable(builder as never, { db });
  threads += 1;
  const id = `run-${threads}`;
  const { status, reason, values: returned } = await app.run(id, input as never, { throwOnFailure: false });
  isTelling = false;
  const values = await app.values(id);
  const graph = app.graph as unknown as ReturnType<AnyBuilder['compile']>;
  const configurable = { thread_id: `plain-${threads}` };
  const ended = await outcomeOf(() => graph.invoke(input, { configurable }));
  return { given, status, reason, returned, values, ended };
}
