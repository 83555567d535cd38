import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Command, InMemoryStore, MemorySaver } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import type { Gate } from '../../src/engine/gates/Gate.ts';
import { copyWith } from '../../src/engine/node/nodeOutput.ts';
import { described } from './described.ts';
import type { Program } from './Program.ts';
import { type Effect, effectsIn, LedgerWorld, type WorldOptions } from './World.ts';

/** What came of a program, in plain words. */
export interface Told {
  /** What it threw; `null` where it came to its end. */
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly values: unknown;
  /** What each stop asked. */
  readonly asked: readonly (readonly unknown[])[];
  /** Every checkpoint, the first one first: where it led, what was asked and thrown there, and its values. */
  readonly history: readonly unknown[];
}

export interface Driven extends Told {
  /** The nodes as they began, with what they were given. */
  readonly visits: readonly unknown[];
  readonly effects: readonly Effect[];
}

const whatOf = ({ effects }: Driven): readonly string[] => effects.map(({ what }) => what).sort();

/** By LangGraph alone, what runs again makes its calls again. */
export const onceEach = (driven: Driven): readonly string[] => [...new Set(whatOf(driven))];

/** The nodes in turn: a node is run once more for an answer, to hear what it asks, so how often in a row does not count. */
const turnsOf = ({ visits }: Driven): readonly unknown[] =>
  visits.filter((visit, at) => !isDeepStrictEqual(visit, visits[at - 1]));

/** What the engine came to, to be compared with {@link wantedOf} LangGraph. */
export const cameTo = (own: Driven) => ({ ...own, visits: turnsOf(own), effects: whatOf(own) });

/** What LangGraph alone came to, with each call made once. */
export const wantedOf = (plain: Driven) => ({ ...plain, visits: turnsOf(plain), effects: onceEach(plain) });

interface Snapshot {
  readonly values: unknown;
  readonly next: readonly string[];
  readonly metadata?: { readonly step: number; readonly source: string };
  readonly tasks: readonly {
    readonly name: string;
    readonly interrupts: readonly { readonly value?: unknown }[];
    readonly error?: unknown;
  }[];
}

interface Asked {
  readonly id: string;
  readonly value: unknown;
}

interface Compiled {
  invoke(input: unknown, config: object): Promise<unknown>;
  getState(config: object): Promise<Snapshot>;
  getStateHistory(config: object): AsyncIterable<Snapshot>;
}

/** Runs of a program in which nobody answers for ever. */
const MAX_STOPS = 20;

const CONFIG = { configurable: { thread_id: 'run' }, durability: 'sync' } as const;

/** By LangGraph alone, in this process. */
export async function driveByLangGraph(
  { build, input, turns = [], triesAgain = false, answer = String, oneByOne = false }: Program,
  dir: string,
): Promise<Driven> {
  const { world, ledger } = openWorld(dir, { isDurable: false });
  const graph = compiledAlone<Compiled>(build(world));
  const asked: unknown[][] = [];
  const drive = async (given: unknown): Promise<null> => {
    let { __interrupt__: open = [] } = openIn(await graph.invoke(given, CONFIG));
    for (let stops = 0; open.length > 0 && stops < MAX_STOPS; stops += 1) {
      const questions = inOrder(open, ({ value }) => value);
      asked.push(questions.map(({ value }) => described(value)));
      const answered = oneByOne ? questions.slice(0, 1) : questions;
      const resume = Object.fromEntries(answered.map(({ id, value }) => [id, answer(value)]));
      ({ __interrupt__: open = [] } = openIn(await graph.invoke(new Command({ resume }), CONFIG)));
    }
    return null;
  };
  let error: Told['error'] = null;
  for (const given of [input, ...turns]) {
    error = await errorOf(() => drive(given));
    if (error !== null && triesAgain) error = await errorOf(() => drive(null));
  }
  const told = { error, asked, ...(await readBack(graph)) };
  return { ...told, visits: world.visits.map(described), effects: effectsIn(ledger) };
}

interface Source<Graph> {
  readonly compile?: unknown;
  readonly builder?: { compile(options: object): Graph };
  readonly graph?: Graph & object;
}

/** As LangGraph alone runs it. An agent keeps what it was made with, and an entrypoint is compiled as it is made. */
export function compiledAlone<Graph>(built: unknown): Graph {
  const source = built as Source<Graph>;
  const checkpointer = new MemorySaver();
  if (source.graph !== undefined)
    return Object.assign(source.graph, { checkpointer, store: new InMemoryStore() });
  const builder = source.compile === undefined ? source.builder : (source as Source<Graph>['builder']);
  return builder?.compile({ checkpointer }) ?? (copyWith(source, { checkpointer }) as Graph);
}

/** An entrypoint returns any value. */
const openIn = (returned: unknown): { readonly __interrupt__?: readonly Asked[] } =>
  Object(returned) as { readonly __interrupt__?: readonly Asked[] };

interface Death {
  readonly diesAfter: number;
  readonly onDeath: () => void;
}

/** By the engine, through `app.run` and `app.decide`: from its beginning, or on from where another process died. */
export async function driveDurably(program: Program, dir: string, death?: Death): Promise<Driven> {
  const { world, ledger } = openWorld(dir, { isDurable: true, ...death });
  const { build, input, turns = [], triesAgain = false, answer = String, oneByOne = false } = program;
  const db = openStateFile(join(dir, 'state.sqlite'));
  const app = durable(build(world) as never, { db, store: 'file' });
  const asked: unknown[][] = [];
  try {
    const drive = async (given?: unknown, turn?: string) => {
      let ran = await app.run('run', given as never, { throwOnFailure: false, ...(turn && { turn }) });
      for (let stops = 0; ran.status === 'waiting' && stops < MAX_STOPS; stops += 1) {
        const gates = inOrder(ran.gates, ({ artifact }) => artifact);
        asked.push(gates.map(({ artifact }) => described(artifact)));
        for (const gate of oneByOne ? gates.slice(0, 1) : gates)
          await app.decide(gate, { value: answer(gate.artifact), by: { kind: 'human', id: 'ada' } });
        ran = await app.run('run', undefined, { throwOnFailure: false });
      }
      return ran;
    };
    let ran = await drive(input, turns.length > 0 ? 'turn 0' : undefined);
    for (const [at, given] of [...turns.entries()]) {
      if (ran.status === 'failed' && triesAgain) ran = await drive();
      ran = await drive(given, `turn ${at + 1}`);
    }
    if (ran.status === 'failed' && triesAgain) ran = await drive();
    const error =
      ran.status === 'completed' ? null : { name: ran.error?.name ?? ran.status, message: `${ran.reason}` };
    const read = await readBack(app.graph as unknown as Compiled);
    return {
      error,
      asked,
      ...read,
      values: described(await app.values('run')),
      visits: world.visits.map(described),
      effects: effectsIn(ledger),
    };
  } finally {
    db.close();
  }
}

/** Made once: migrations are a fifth of a second where the disk is busy. */
let empty: Buffer | undefined;

function openStateFile(dbPath: string): Database {
  if (!existsSync(dbPath)) {
    empty ??= createDatabase({ dbPath: ':memory:' }).serialize();
    writeFileSync(dbPath, empty);
  }
  const db = createDatabase({ dbPath });
  db.pragma('synchronous = OFF'); // what a killed process has written is in the file
  return db;
}

function openWorld(dir: string, options: Omit<WorldOptions, 'ledger'>) {
  mkdirSync(dir, { recursive: true });
  const ledger = join(dir, 'ledger.jsonl');
  return { ledger, world: new LedgerWorld({ ...options, ledger }) };
}

const byText =
  <Value>(shown: (value: Value) => unknown) =>
  (left: Value, right: Value): number =>
    String(JSON.stringify(shown(left))).localeCompare(String(JSON.stringify(shown(right))));

/** Branches ask side by side, in an order that means nothing. */
function inOrder<Asked extends { readonly id: string } | Gate>(
  open: readonly Asked[],
  shown: (asked: Asked) => unknown,
): readonly Asked[] {
  return open.toSorted(byText((asked) => described(shown(asked))));
}

async function errorOf(run: () => Promise<null>): Promise<Told['error']> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Error)) return { name: typeof error, message: String(error) };
    const { name, message } = error;
    return { name, message };
  }
}

async function readBack(graph: Compiled): Promise<Pick<Told, 'values' | 'history'>> {
  const history: unknown[] = [];
  let last: Pick<Snapshot, 'values'> = { values: null };
  for await (const snapshot of graph.getStateHistory(CONFIG)) {
    if (history.length === 0) last = snapshot;
    history.unshift(tellOf(snapshot));
  }
  // What a reducer has refused it refuses again when the state is read: then it is as the last checkpoint has it.
  const { values } = await graph.getState(CONFIG).catch((): Pick<Snapshot, 'values'> => last);
  return { values: described(values), history };
}

function tellOf({ values, next, metadata, tasks }: Snapshot): unknown {
  return {
    step: metadata?.step,
    source: metadata?.source,
    next,
    tasks: tasks.map(({ name, interrupts, error }) => ({
      name,
      asked: interrupts.map(({ value }) => described(value)).toSorted(byText((value) => value)),
      error: described(error),
    })),
    values: described(values),
  };
}
