import { Command } from '@langchain/langgraph';
import { expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { described } from '../programs/described.ts';
import { compiledAlone } from '../programs/drive.ts';
import type { Program } from '../programs/Program.ts';
import { LedgerWorld } from '../programs/World.ts';
import { listOf } from '../support/listOf.ts';

/** A chunk in plain words: the graph by the names of its tasks, as their ids are others each time. */
export interface Streamed {
  readonly ns: string;
  /** Tells the graph from others of that name, in one run. */
  readonly graph: string;
  readonly mode: string;
  readonly data: unknown;
}

const MODES = ['updates', 'values', 'custom'] as const;
const MAX_STOPS = 20;
const CONFIG = { configurable: { thread_id: 'run' }, durability: 'sync' } as const;

interface Streamable {
  stream(input: unknown, config: object): Promise<AsyncIterable<[string[], string, Record<string, unknown>]>>;
}

interface Asked {
  readonly id: string;
  readonly value: unknown;
}

/**
 * What LangGraph alone streams, without what it says of stopping and says again when it goes on: what was written before.
 *
 * `isCut`: it threw, and then LangGraph drops what it had not handed out.
 */
export async function streamedByLangGraph(
  { build, input, answer = String, oneByOne = false }: Program,
  ledger: string,
): Promise<{ readonly chunks: readonly Streamed[]; readonly isCut: boolean }> {
  const built = build(new LedgerWorld({ ledger, isDurable: false }));
  const graph = compiledAlone<Streamable>(built);
  const told: Told = { chunks: [], begun: new Set() };
  const { chunks } = told;
  let given: unknown = input;
  for (let stops = 0; stops < MAX_STOPS; stops += 1) {
    const open: Asked[] = [];
    try {
      await toldUntilStop(graph, given, { ...told, open });
    } catch {
      return { chunks, isCut: true };
    }
    if (open.length === 0) break;
    const answered = inOrder(open, ({ value }) => value, oneByOne);
    given = new Command({ resume: Object.fromEntries(answered.map(({ id, value }) => [id, answer(value)])) });
  }
  return { chunks, isCut: false };
}

interface Told {
  readonly chunks: Streamed[];
  /** Graphs that have told their values once. */
  readonly begun: Set<string>;
}

/** One call of LangGraph, to its end or to what it asks. */
async function toldUntilStop(
  graph: Streamable,
  given: unknown,
  { chunks, begun, open }: Told & { readonly open: Asked[] },
): Promise<void> {
  const stopped = new Set<string>();
  const goingOn = new Set(begun);
  const config = { ...CONFIG, streamMode: MODES, subgraphs: true };
  for await (const [ns, mode, data] of await graph.stream(given, config)) {
    const path = ns.join('|');
    begun.add(path);
    const isStop = '__interrupt__' in Object(data);
    if (isStop) stopped.add(path);
    if (isStop && path === '' && mode === 'updates') open.push(...(data['__interrupt__'] as Asked[]));
    if (isStop || (mode === 'values' && (goingOn.delete(path) || stopped.has(path)))) continue;
    if (mode !== 'updates' || !('__metadata__' in Object(data))) chunks.push(streamed(ns, mode, data));
  }
}

/** What the engine streams. Every event has the next number. */
export async function streamedDurably(
  { build, input, answer = String, oneByOne = false }: Program,
  ledger: string,
): Promise<readonly Streamed[]> {
  const db = createDatabase({ dbPath: ':memory:' });
  const app = durable(build(new LedgerWorld({ ledger, isDurable: true })) as never, { db, store: 'file' });
  const chunks: Streamed[] = [];
  let given: unknown = input;
  let last = 0;
  try {
    for (let stops = 0; stops < MAX_STOPS; stops += 1) {
      const events = app.stream('run', given as never, {
        ...{ streamMode: MODES, subgraphs: true },
        throwOnFailure: false,
      });
      const told = await listOf(events);
      expect(told.map(({ seq }) => seq)).toEqual(told.map((_, index) => last + 1 + index));
      last += told.length;
      chunks.push(...told.flatMap((e) => ('ns' in e ? [streamed(e.ns, e.mode, e.data)] : [])));
      const open = await app.gates('run');
      if (open.length === 0) break;
      for (const gate of inOrder(open, ({ artifact }) => artifact, oneByOne))
        await app.decide(gate, { value: answer(gate.artifact), by: { kind: 'human', id: 'ada' } });
      given = undefined;
    }
    return chunks;
  } finally {
    db.close();
  }
}

/**
 * By the names of graphs, each in the order of its super-steps. What tasks of one super-step write side by side has none, and values that are
 * those before are what LangGraph says as it goes on.
 */
export function bySteps(chunks: readonly Streamed[]): Readonly<Record<string, readonly unknown[]>> {
  const graphs: Record<string, GraphSteps> = {};
  for (const { ns, graph: id, mode, data } of chunks) {
    const graph = graphs[id] ?? { ns, steps: [], beside: [], values: '' };
    graphs[id] = graph;
    const text = JSON.stringify({ mode, data });
    if (mode !== 'values') graph.beside.push(text);
    else if (text !== graph.values) {
      graph.steps.push(
        graph.beside.sort().map((each) => JSON.parse(each) as unknown),
        { mode, data },
      );
      graph.beside = [];
      graph.values = text;
    }
  }
  const byName: Record<string, string[]> = {};
  for (const { ns, steps, beside } of Object.values(graphs)) {
    const told = JSON.stringify([...steps, beside.sort().map((each) => JSON.parse(each) as unknown)]);
    byName[ns] = [...(byName[ns] ?? []), told].sort();
  }
  return Object.fromEntries(
    Object.entries(byName).map(([ns, each]) => [ns, each.map((told) => JSON.parse(told) as unknown)]),
  );
}

interface GraphSteps {
  readonly ns: string;
  readonly steps: unknown[];
  beside: string[];
  values: string;
}

function inOrder<T>(open: readonly T[], shown: (asked: T) => unknown, oneByOne: boolean): readonly T[] {
  const keyed = open.map((asked) => ({ asked, key: JSON.stringify(described(shown(asked))) }));
  const sorted = keyed.toSorted((a, b) => a.key.localeCompare(b.key)).map(({ asked }) => asked);
  return oneByOne ? sorted.slice(0, 1) : sorted;
}

const streamed = (ns: readonly string[], mode: string, data: unknown): Streamed => ({
  ns: ns.map((part) => part.split(':', 1)[0]).join('|'),
  graph: ns.join('|'),
  mode,
  data: withoutIds(described(data)),
});

/**
 * LangGraph gives messages their ids in place, later than they are streamed: whoever reads late sees them. `jumpTo` of an
 * agent is in no file: it is untracked.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(['lc_kwargs', 'id', 'jumpTo']);

function withoutIds(told: unknown): unknown {
  if (Array.isArray(told)) return told.map(withoutIds);
  if (typeof told !== 'object' || told === null) return told;
  const entries = Object.entries(told).filter(([key]) => !LEFT_OUT.has(key));
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutIds(each)]));
}
