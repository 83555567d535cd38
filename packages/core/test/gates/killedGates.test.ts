import { randomInt } from 'node:crypto';
import { interrupt } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { ada, repeating, twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import { openQuestions } from '../../src/engine/drive/openQuestions.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { durable } from '../support/runs/durable.ts';
import { ofOneFile } from '../support/runs/where.ts';
import { tried } from '../support/tried.ts';
import { type Death, DyingFile } from './DyingFile.ts';

/** Of the writes, one in so many; which, is another in every run. */
const EVERY = howMany('DEVS_DEATHS_EVERY', 46);

/** Three questions of three kinds before the end: a failure gate, a declared gate, a bare interrupt(). */
function start(dbPath: string, death: Death | null) {
  const db = createDatabase({ dbPath });
  db.pragma('synchronous = OFF'); // dying here is closing: what was committed is in the file
  const file = new DyingFile(db, death);
  const app = durable(
    twoSteps(
      () => repeating({ log: ['first'] }, 1),
      () => ({ log: ['second'], answer: interrupt('announce?') }),
    ),
    { db, gates: { second: ({ log }) => log } },
  );
  return { db, file, app };
}

type Process = ReturnType<typeof start>;

const ANSWERS = {
  task_failure: { action: 'retry' },
  node_gate: { approved: true },
  interrupt: { value: true },
} as const;

interface Seen {
  readonly gateWithoutInterrupt: string[];
  readonly interruptWithoutGate: string[];
}

/** Compares what a waiting run's checkpoint asks with what its open sessions say it asks. */
async function judge({ db, app }: Process, run: string, seen: Seen): Promise<void> {
  const tuple = await new SqliteSaver(db).getTuple({ configurable: { thread_id: run } });
  const asked = tuple === undefined ? [] : openQuestions(tuple);
  const interrupts = new Set(asked.map(({ interruptId }) => interruptId));
  const open = app.store.sessions.listOpen(run);
  const carried = new Set(open.map(({ interruptId }) => interruptId));
  seen.gateWithoutInterrupt.push(
    ...open.filter((session) => !interrupts.has(session.interruptId ?? '')).map(({ id }) => `${run} ${id}`),
  );
  seen.interruptWithoutGate.push(
    ...[...interrupts].filter((id) => !carried.has(id)).map((id) => `${run} ${id}`),
  );
}

/** Drives and answers until the run has ended; `seen` collects what does not fit whenever it waits. */
async function toTheEnd(process: Process, run: string, seen?: Seen): Promise<unknown> {
  const { app } = process;
  for (let drives = 0; drives < 8; drives += 1) {
    const { status, gates, values } = await app.run(run, {});
    if (status !== 'waiting') return { status, log: values?.log, answer: values?.answer };
    if (seen) await judge(process, run, seen);
    for (const gate of gates)
      await app.decide(gate, { ...ANSWERS[gate.kind as keyof typeof ANSWERS], by: ada });
  }
  throw new Error('The run does not end.');
}

/** What its death does for a real process. */
const leaveToOthers = (db: Database): unknown => db.prepare('UPDATE threads SET lease_owner = NULL').run();

describe('a process that dies at any write, in a run with three questions', () => {
  test('leaves no gate without its interrupt, no interrupt without its gate, and no answer twice', {
    ...ofOneFile('dies at a write'),
    timeout: 300_000,
  }, async ({ db, dbPath, task }) => {
    const whole = start(dbPath, null);
    const writesBefore = whole.file.writes;
    const expected = await toTheEnd(whole, 'whole');
    const writes = whole.file.writes - writesBefore;
    expect(expected).toEqual({ status: 'completed', log: ['first', 'second'], answer: true });

    const seen: Seen = { gateWithoutInterrupt: [], interruptWithoutGate: [] };
    let deaths = 0;
    for (let write = 1 + randomInt(EVERY); write <= writes; write += EVERY) {
      for (const side of ['before', 'after'] as const) {
        const run = `${side}-${write}`;
        const dying = start(dbPath, { write: write + writesBefore, side });
        const survived = await toTheEnd(dying, run).catch(() => null);
        if (survived === null) deaths += 1;
        tried(task, { ways: deaths });
        dying.db.close();
        leaveToOthers(db);
        expect([run, await toTheEnd(whole, run, seen)]).toEqual([run, expected]);
      }
    }
    expect(seen).toEqual({ gateWithoutInterrupt: [], interruptWithoutGate: [] });
    expect(deaths).toBeGreaterThanOrEqual(Math.floor(200 / EVERY));
    expect(unusualRuns(db)).toEqual([]);
    whole.db.close();
  });
});

/** Runs that asked other than three questions, or took other than one decision for each. */
function unusualRuns(db: Database): readonly unknown[] {
  return db
    .prepare(
      `SELECT thread_id, count(*) AS questions, sum(status = 'resumed') AS resumed, count(decision_json) AS decided
       FROM hitl_sessions GROUP BY thread_id HAVING questions <> 3 OR resumed <> 3 OR decided <> 3`,
    )
    .all();
}
