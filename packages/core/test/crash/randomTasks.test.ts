import { Command } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';
import { compiledAlone } from '../programs/drive.ts';
import { type Death, DyingFile } from '../support/DyingFile.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { runByLangGraph } from '../support/runByLangGraph.ts';
import { tried } from '../support/tried.ts';
import { buildTasks, type Deed, type TaskWorld, taskPrograms } from './randomTasks.ts';

/** Programs; `DEVS_TASKS_SEED=42` repeats those of a failure. */
const CASES = howMany('DEVS_RANDOM_TASKS', 12);
const SEED = process.env['DEVS_TASKS_SEED'];
const MAX_STOPS = 60;

/** What is outside of all processes: which calls were made, and how often something was down. */
class Outside {
  readonly calls: string[] = [];
  readonly #failed = new Map<string, number>();

  make(what: string): string {
    this.calls.push(what);
    return `done: ${what}`;
  }

  fails(what: string, times: number): boolean {
    const before = this.#failed.get(what) ?? 0;
    this.#failed.set(what, before + 1);
    return before < times;
  }
}

interface Ended {
  readonly values: unknown;
  readonly asked: readonly string[];
  readonly calls: readonly string[];
}

const once = (words: Iterable<string>): readonly string[] => [...new Set(words)].sort();

interface Plain {
  invoke(input: unknown, config: object): Promise<unknown>;
}

const openIn = (returned: unknown) =>
  (Object(returned) as { __interrupt__?: readonly { id: string; value: string }[] }).__interrupt__ ?? [];

async function byLangGraph(program: readonly Deed[]): Promise<Ended> {
  const outside = new Outside();
  const world: TaskWorld = {
    call: (what) => outside.make(what),
    step: async (_name, what) => outside.make(what),
    fails: (what, times) => outside.fails(what, times),
  };
  const graph = compiledAlone<Plain>(buildTasks(program, world));
  const config = { configurable: { thread_id: 'plain' } };
  const asked: string[] = [];
  let values = await graph.invoke('p', config);
  for (let stops = 0; openIn(values).length > 0 && stops < MAX_STOPS; stops += 1) {
    const open = openIn(values);
    asked.push(...open.map(({ value }) => value));
    const resume = Object.fromEntries(open.map(({ id, value }) => [id, `yes to ${value}`]));
    values = await graph.invoke(new Command({ resume }), config);
  }
  return { values, asked: once(asked), calls: once(outside.calls) };
}

/** One process of a run: it may die at any write, and makes no call after that. */
function live(program: readonly Deed[], outside: Outside, dbPath: string, death: Death | null) {
  const db = createDatabase({ dbPath });
  db.pragma('synchronous = OFF'); // dying here is closing: what was committed is in the file
  new DyingFile(db, death);
  const alive = (): void => {
    if (!db.open) throw new Error('The process is gone.');
  };
  const make = (what: string): string => {
    alive();
    return outside.make(what);
  };
  const world: TaskWorld = {
    call: make,
    step: (name, what) => step(name, () => make(what)),
    fails: (what, times) => {
      alive();
      return outside.fails(what, times);
    },
  };
  return { db, app: durable(buildTasks(program, world), { db }) };
}

/** Drives and answers to the end; `null` if the process died. */
async function driven({ app, db }: ReturnType<typeof live>, run: string, asked: string[]) {
  try {
    let ran = await app.run(run, 'p');
    for (let stops = 0; ran.status === 'waiting' && stops < MAX_STOPS; stops += 1) {
      for (const gate of ran.gates) {
        asked.push(String(gate.artifact));
        await app.decide(gate, {
          value: `yes to ${String(gate.artifact)}`,
          by: { kind: 'human', id: 'ada' },
        });
      }
      ran = await app.run(run);
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

/** Calls whose results are in the file. */
const recordedCalls = (db: Database, run: string): ReadonlySet<string> =>
  new Set(
    db
      .prepare<[string], string>(
        `SELECT result_json FROM agent_steps
         WHERE thread_id = ? AND state = 'done' AND result_json LIKE '"done: %'`,
      )
      .pluck()
      .all(run)
      .map((json) => (JSON.parse(json) as string).slice('done: '.length)),
  );

interface Files {
  readonly db: Database;
  readonly dbPath: string;
  readonly run: string;
}

async function throughDeaths(program: readonly Deed[], deaths: readonly Death[], { db, dbPath, run }: Files) {
  const outside = new Outside();
  const asked: string[] = [];
  const madeAgain: string[] = [];
  let lives = 0;
  for (const death of [...deaths, null]) {
    lives += 1;
    const recorded = recordedCalls(db, run);
    const before = outside.calls.length;
    const ended = await runByLangGraph(() => driven(live(program, outside, dbPath, death), run, asked));
    const made = outside.calls.slice(before);
    madeAgain.push(...made.filter((what, at) => recorded.has(what) || made.indexOf(what) !== at));
    leaveToOthers(db);
    if (ended !== null) {
      const { status, values } = ended;
      return { status, lives, madeAgain, values, asked: once(asked), calls: once(outside.calls) };
    }
  }
  throw new Error('The last process dies of nothing.');
}

const deaths = fc.array(
  fc.record({ write: fc.integer({ min: 1, max: 60 }), side: fc.constantFrom('before', 'after') }),
  { maxLength: 3 },
);

describe('a random program of tasks, in a process that dies at any write', () => {
  test('ends as by LangGraph alone; every recorded call is made once', {
    timeout: 60_000 + CASES * 2_000,
  }, async ({ db, dbPath, annotate, task }) => {
    let runs = 0;
    const seen = { deaths: 0, calls: 0, questions: 0 };
    const property = fc.asyncProperty(taskPrograms, deaths, async (program, deaths) => {
      runs += 1;
      const plain = await byLangGraph(program);
      const { lives, ...own } = await throughDeaths(program, deaths, { db, dbPath, run: `run-${runs}` });
      seen.deaths += lives - 1;
      tried(task, { ways: seen.deaths });
      seen.calls += plain.calls.length;
      seen.questions += plain.asked.length;
      expect(own).toEqual({ status: 'completed', madeAgain: [], ...plain });
    });
    await fc.assert(property, { numRuns: CASES, ...(SEED !== undefined && { seed: Number(SEED) }) });
    await annotate(`${runs} runs: ${JSON.stringify(seen)}`);
  });
});
