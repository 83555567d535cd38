import type { Database } from 'better-sqlite3';
import { describe, expect, onTestFinished } from 'vitest';
import { ARTIFACT_HASH, aRunWithGate } from '../../src/orchestration/__tests__/aRunWithGate.ts';
import { aThread } from '../../src/state/__tests__/aThread.ts';
import { Child } from '../../src/state/__tests__/Child.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { DecisionLog } from '../../src/state/gates/DecisionLog.ts';
import { HitlSessionStore } from '../../src/state/gates/HitlSessionStore.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import type { ClaimResult } from '../../src/state/threads/threadRecords.ts';
import { test } from '../support/fixtures.ts';
import { tried } from '../support/tried.ts';

const INCREMENT = new URL('./increment.child.ts', import.meta.url);
const CLAIM = new URL('../../src/state/__tests__/claim.child.ts', import.meta.url);
const DECIDE = new URL('./decideAll.child.ts', import.meta.url);

/** Starts a process for each list of arguments and waits until all are ready; they end with the test. */
async function start(program: URL, argumentLists: readonly (readonly string[])[]): Promise<readonly Child[]> {
  const children = argumentLists.map((args) => new Child(program, ...args));
  onTestFinished(async () => {
    await Promise.all(children.map((child) => child.kill()));
  });
  await Promise.all(children.map((child) => child.read()));
  return children;
}

/** Tells all of them to begin, and collects what each answers. */
function race<Answer>(children: readonly Child[]): Promise<readonly Answer[]> {
  for (const child of children) child.send('go');
  return Promise.all(children.map((child) => child.read<Answer>()));
}

const times = <T>(count: number, make: (n: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, n) => make(n));

function countOf(db: Database, sql: string): number {
  return db.prepare<[], number>(sql).pluck().get() ?? 0;
}

describe('several processes on one state file', { timeout: 120_000 }, () => {
  test('lose no update: 4 that read and then write, 500 times each', async ({ db, dbPath, task }) => {
    const [processes, rounds] = [4, 500];
    new ThreadStore(db).create(aThread());
    db.exec('CREATE TABLE counter (n INTEGER NOT NULL); INSERT INTO counter VALUES (0)');
    const children = await start(
      INCREMENT,
      times(processes, (n) => [dbPath, 'run-1', `p${n}`, String(rounds)]),
    );
    expect(await race(children)).toEqual(times(processes, () => 'done'));

    tried(task, { ways: countOf(db, 'SELECT n FROM counter') });
    expect(countOf(db, 'SELECT n FROM counter')).toBe(processes * rounds);
    expect(new ThreadStore(db).require('run-1').wakeSeq).toBe((processes * rounds) / 5);
    expect(countOf(db, 'SELECT count(DISTINCT seq) FROM signals')).toBe((processes * rounds) / 5);
  });

  test('claim a free run 40 times: one wins each time, with an epoch of its own', async ({
    db,
    dbPath,
    task,
  }) => {
    const rounds = 40;
    const threads = new ThreadStore(db);
    threads.create(aThread());
    // A copy of a lease releases nothing, and its holder has to be there for the next round.
    const free = db.prepare(
      'UPDATE threads SET lease_owner = NULL, lease_expires_mono = NULL, lease_boot_id = NULL',
    );
    const children = await start(
      CLAIM,
      times(3, () => [dbPath, 'run-1']),
    );
    const epochs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const results = await race<ClaimResult>(children);
      const won = results.filter((result) => result.kind === 'claimed');
      tried(task, { ways: round + 1 });
      expect(won).toHaveLength(1);
      for (const { lease } of won) {
        epochs.push(lease.epoch);
        free.run();
      }
    }
    expect(epochs).toEqual(times(rounds, (n) => n + 1));
  });

  test('decide 500 gates, 8 of them at once: 500 decisions, each by one', async ({ db, dbPath, task }) => {
    const [processes, gates] = [8, 500];
    const ids = db
      .transaction(() =>
        times(gates, (n) => aRunWithGate(db, { interruptId: `i-${n}`, questionKey: `k-${n}` }).id),
      )
      .immediate();
    const children = await start(
      DECIDE,
      times(processes, (n) => [dbPath, `p${n}`, ARTIFACT_HASH]),
    );
    const answers = await race<Readonly<Record<string, string>>>(children);

    const sessions = new HitlSessionStore(db);
    const conflicts = ids.filter((id) => {
      const told = answers.map((answer) => answer[id]);
      const winners = told.flatMap((outcome, n) => (outcome === 'me' ? [`p${n}`] : []));
      const others = told.filter((outcome) => outcome === `human:${winners[0]}`);
      return winners[0] !== sessions.require(id).principal?.id || others.length !== processes - 1;
    });
    tried(task, { ways: ids.length, through: conflicts.length });
    expect(conflicts).toEqual([]);
    expect(sessions.countDecisions()).toBe(gates);
    expect(new DecisionLog(db).verify()).toEqual({ ok: true });
    expect(doctor(db).findings).toEqual([]);
  });
});
