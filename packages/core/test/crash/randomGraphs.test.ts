import { Command, MemorySaver } from '@langchain/langgraph';
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import {
  buildGraph,
  mayThrowTwice,
  type RandomGraph,
  type Working,
  workingGraphs,
} from '../../src/engine/__tests__/randomGraph.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';
import { described } from '../programs/described.ts';
import { type Death, DyingFile } from '../support/DyingFile.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { runByLangGraph } from '../support/runByLangGraph.ts';
import { tried } from '../support/tried.ts';

/** Graphs; `DEVS_GRAPH_SEED=42` repeats those of a failure. */
const CASES = howMany('DEVS_KILLED_GRAPHS', 12);
const SEED = process.env['DEVS_GRAPH_SEED'];

interface Call {
  /** Which call it is: by its step's key, or by LangGraph's task and the name. */
  readonly key: string;
  readonly what: string;
}

interface Ended {
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly values: unknown;
  readonly asked: readonly string[];
  readonly calls: readonly Call[];
}

/** What is outside of all processes: which calls were made, and how often something was down. */
class Outside {
  readonly calls: Call[] = [];
  readonly #failed = new Map<string, number>();

  make(key: string, what: string): string {
    this.calls.push({ key, what });
    return `done: ${what}`;
  }

  fails(task: string, times: number): boolean {
    const before = this.#failed.get(task) ?? 0;
    this.#failed.set(task, before + 1);
    return before < times;
  }
}

/** What is said to a question: values of every kind, the same to the same question. */
const ANSWERS = [true, false, null, 0, '', 'yes', ['a'], { approved: false }] as const;
const answerTo = (asked: unknown): unknown => {
  const text = JSON.stringify(asked);
  return ANSWERS[[...text].reduce((sum, char) => sum + char.charCodeAt(0), 0) % ANSWERS.length];
};

/** Gives back the very values: LangGraph's own serializer changes dates and bytes. */
function byReference(): SerializerProtocol {
  const kept = new Map<string, unknown>();
  return {
    dumpsTyped: async (value) => {
      const id = String(kept.size);
      kept.set(id, value);
      return ['kept', new TextEncoder().encode(id)];
    },
    loadsTyped: async (_type, id) =>
      kept.get(typeof id === 'string' ? id : new TextDecoder().decode(id)) as never,
  };
}

interface Plain {
  invoke(
    input: unknown,
    config: object,
  ): Promise<{ readonly __interrupt__?: readonly { readonly id: string; readonly value: unknown }[] }>;
  getState(config: object): Promise<{ readonly values: unknown }>;
}

const INPUT = { log: ['input'] };
const MAX_STOPS = 50;

async function byLangGraph(random: RandomGraph): Promise<Ended> {
  const outside = new Outside();
  const world: Working = {
    call: async (name, { task, what }) => outside.make(`${task}/${name}`, what),
    fails: (task, times) => outside.fails(task, times),
  };
  const builder = buildGraph(random, () => {}, world) as { compile(options: object): Plain };
  const graph = builder.compile({ checkpointer: new MemorySaver(byReference()) });
  const config = { configurable: { thread_id: 'plain' } };
  const asked = new Set<string>();
  const calls = (): readonly Call[] => [...new Map(outside.calls.map((call) => [call.key, call])).values()];
  try {
    const invoke = (input: unknown) => runByLangGraph(() => graph.invoke(input, config));
    let { __interrupt__: open = [] } = await invoke(INPUT);
    for (let stops = 0; open.length > 0 && stops < MAX_STOPS; stops += 1) {
      for (const { value } of open) asked.add(JSON.stringify(value));
      const resume = Object.fromEntries(open.map(({ id, value }) => [id, answerTo(value)]));
      ({ __interrupt__: open = [] } = await invoke(new Command({ resume })));
    }
    const { values } = await graph.getState(config);
    return { error: null, values: described(values), asked: [...asked].sort(), calls: calls() };
  } catch (error) {
    const { name, message } = error as Error;
    return { error: { name, message }, values: null, asked: [], calls: [] };
  }
}

/** One process of a run: it may die at any write, and makes no call after that. */
function live(random: RandomGraph, outside: Outside, dbPath: string, death: Death | null) {
  const db = createDatabase({ dbPath });
  db.pragma('synchronous = OFF'); // dying here is closing: what was committed is in the file
  new DyingFile(db, death);
  const alive = (): void => {
    if (!db.open) throw new Error('The process is gone.');
  };
  const world: Working = {
    call: (name, { what }) =>
      step(name, ({ key }) => {
        alive();
        return outside.make(key, what);
      }),
    fails: (task, times) => {
      alive();
      return outside.fails(task, times);
    },
  };
  return { db, app: durable(buildGraph(random, () => {}, world) as never, { db }) };
}

/** Drives and answers to the end; `null` if the process died. */
async function driven({ app, db }: ReturnType<typeof live>, run: string, asked: Set<string>) {
  try {
    let ran = await app.run(run, INPUT as never, { throwOnFailure: false });
    for (let stops = 0; ran.status === 'waiting' && stops < MAX_STOPS; stops += 1) {
      for (const gate of ran.gates) {
        asked.add(JSON.stringify(gate.artifact));
        await app.decide(gate, { value: answerTo(gate.artifact), by: { kind: 'human', id: 'ada' } });
      }
      ran = await app.run(run, undefined, { throwOnFailure: false });
    }
    return ran;
  } catch (error) {
    if (db.open) throw error;
    return null;
  } finally {
    if (db.open) db.close();
  }
}

/** What its death does for a real process. */
const leaveToOthers = (db: Database): unknown => db.prepare('UPDATE threads SET lease_owner = NULL').run();

const recordedKeys = (db: Database, run: string): ReadonlySet<string> =>
  new Set(
    db
      .prepare<[string], string>(
        "SELECT thread_id || '/' || lg_task_id || '/' || name FROM agent_steps WHERE thread_id = ? AND state = 'done'",
      )
      .pluck()
      .all(run),
  );

interface Files {
  readonly db: Database;
  readonly dbPath: string;
  readonly run: string;
}

async function throughDeaths(random: RandomGraph, deaths: readonly Death[], { db, dbPath, run }: Files) {
  const outside = new Outside();
  const asked = new Set<string>();
  const madeAgain: string[] = [];
  let lives = 0;
  for (const death of [...deaths, null]) {
    lives += 1;
    const recorded = recordedKeys(db, run);
    const before = outside.calls.length;
    const process = live(random, outside, dbPath, death);
    const ended = await runByLangGraph(() => driven(process, run, asked));
    const made = outside.calls.slice(before).map(({ key }) => key);
    madeAgain.push(...made.filter((key, at) => recorded.has(key) || made.indexOf(key) !== at));
    leaveToOthers(db);
    if (ended !== null) return { ended, lives, madeAgain, asked: [...asked].sort(), calls: outside.calls };
  }
  throw new Error('The last process dies of nothing.');
}

const whatOf = (calls: readonly Call[]): readonly string[] =>
  [...new Map(calls.map(({ key, what }) => [key, what])).values()].sort();

const deaths = fc.array(
  fc.record({ write: fc.integer({ min: 1, max: 60 }), side: fc.constantFrom('before', 'after') }),
  { maxLength: 3 },
);

describe('a random graph that calls, asks and fails, in a process that dies at any write', () => {
  test('ends as by LangGraph alone; every recorded call is made once', {
    timeout: 60_000 + CASES * 2_000,
  }, async ({ db, dbPath, annotate, task }) => {
    let runs = 0;
    const seen = { completed: 0, deaths: 0, calls: 0, questions: 0 };
    const property = fc.asyncProperty(workingGraphs, deaths, async (random, deaths) => {
      runs += 1;
      const plain = await byLangGraph(random);
      const own = await throughDeaths(random, deaths, { db, dbPath, run: `run-${runs}` });
      seen.deaths += own.lives - 1;
      tried(task, { ways: seen.deaths });
      seen.completed += plain.error === null ? 1 : 0;
      seen.calls += plain.calls.length;
      seen.questions += plain.asked.length;
      expect(own.madeAgain).toEqual([]);
      if (plain.error === null) {
        expect(own.ended).toMatchObject({ status: 'completed', reason: null });
        expect(described(own.ended.values)).toStrictEqual(plain.values);
        expect(own.asked).toEqual(plain.asked);
        expect(whatOf(own.calls)).toEqual(whatOf(plain.calls));
      } else {
        const error = mayThrowTwice(random) ? {} : { error: plain.error };
        expect(own.ended).toMatchObject({ status: 'failed', ...error });
      }
    });
    await fc.assert(property, { numRuns: CASES, ...(SEED !== undefined && { seed: Number(SEED) }) });
    await annotate(`${runs} runs: ${JSON.stringify(seen)}`);
  });
});
