import { randomInt } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { ada, twoBranches, twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { HumanInTheLoopManager } from '../../src/orchestration/hitl.ts';
import { HitlSessionStore } from '../../src/state/gates/HitlSessionStore.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { interceptStatements } from '../support/interceptStatements.ts';
import { durable } from '../support/runs/durable.ts';
import { ofOneFile } from '../support/runs/where.ts';
import { tried } from '../support/tried.ts';
import { UNWATCHED } from '../support/unwatched.ts';
import { Desk, Driver, DriverGone } from './Drivers.ts';

/** Of the pairs of moments, one in so many; which, is another in every run. */
const EVERY = howMany('DEVS_WAKES_EVERY', 53);

/** At least so many wakes; all pairs together send some 370, and a draw is off by half at most. */
const WAKES = Math.floor(120 / EVERY);

/** Runs that race with wakes; in one of four the driver is killed. */
const RACES = howMany('DEVS_WAKE_RACES', 8);

/** Approves open gates of a run, the oldest first; returns how many. */
function approve(db: Database, run: string, atMost = Number.POSITIVE_INFINITY): number {
  const open = new HitlSessionStore(db).listOpen(run).filter(({ interruptId }) => interruptId !== null);
  for (const { id, kind, artifactHash } of open.slice(0, atMost)) {
    const answer = kind === 'interrupt' ? { value: true } : { approved: true };
    const decision = { artifactHash: artifactHash ?? '', answer, by: ada };
    new HumanInTheLoopManager(db).decide(id, decision);
  }
  return Math.min(open.length, atMost);
}

/** What arrives from outside; returns how many wakes it was. */
type Wake = (elsewhere: Database, run: string) => number;

const approveOne: Wake = (elsewhere, run) => approve(elsewhere, run, 1);

const cancel: Wake = (elsewhere, run) => {
  const threads = new ThreadStore(elsewhere);
  if (threads.get(run) === null) return 0;
  threads.signal(run, { id: `cancel ${run}`, kind: 'cancel', payload: null });
  return 1;
};

/** Decisions of a run that have not reached it. */
const untaken = (db: Database, run: string): number =>
  db
    .prepare<[string], number>(
      "SELECT count(*) FROM hitl_sessions WHERE thread_id = ? AND status = 'decided'",
    )
    .pluck()
    .get(run) ?? 0;

const GRAPHS = {
  'one gate': (db: Database) => durable(twoSteps(), { db, gates: { second: ({ log }) => log } }),
  'two gates': (db: Database) => durable(twoBranches(), { db, gates: { left: () => 'l', right: () => 'r' } }),
  'no gate': (db: Database) => durable(twoSteps(), { db }),
};

/** Two wakes each, the second at the same moment as the first or later. */
const SCENARIOS: readonly (readonly [keyof typeof GRAPHS, Wake, Wake])[] = [
  ['two gates', approveOne, approveOne],
  ['two gates', approveOne, cancel],
  ['one gate', approveOne, cancel],
  ['no gate', cancel, approveOne],
];

/** Both connections of a test, without the waits of a real disk. */
function openTwice(dbPath: string) {
  const [db, elsewhere] = [createDatabase({ dbPath }), createDatabase({ dbPath })];
  for (const connection of [db, elsewhere]) connection.pragma('synchronous = OFF');
  let statements = 0;
  let acts: readonly (readonly [number, () => void])[] = [];
  interceptStatements(db, (work) => {
    if (!db.inTransaction) {
      statements += 1;
      for (const [moment, act] of acts) if (moment === statements) act();
    }
    return work();
  });
  /** Acts right before the n-th statements from now that are outside a transaction. */
  const plan = (...planned: typeof acts): void => {
    statements = 0;
    acts = planned;
  };
  return { db, elsewhere, plan, statements: () => statements };
}

type App = ReturnType<(typeof GRAPHS)[keyof typeof GRAPHS]>;
type Scenario = (typeof SCENARIOS)[number];

/** Every early moment with every later one, from 1. */
const everyPair = (moments: number): readonly (readonly [number, number])[] =>
  Array.from({ length: moments }, (_, early) =>
    Array.from({ length: moments - early }, (_, gap) => [early + 1, early + 1 + gap] as const),
  ).flat();

/** Drives one run, with a wake at two of its moments; a wake that was sent must be taken up or be seen to wait. */
async function wakeTwice(
  { app, db, elsewhere, plan }: ReturnType<typeof openTwice> & { readonly app: App },
  [graph, first, second]: Scenario,
  [early, late]: readonly [number, number],
): Promise<{ readonly wakes: number; readonly lost: readonly string[] }> {
  const run = `${graph} ${SCENARIOS.findIndex((scenario) => scenario[2] === second)} ${early} ${late}`;
  const sent: Wake[] = [];
  const send = (wake: Wake) => (): void => {
    if (wake(elsewhere, run) > 0) sent.push(wake);
  };
  plan([early, send(first)], [late, send(second)]);
  let { status } = await app.run(run, {});
  plan();
  if (sent.length === 0) return { wakes: 0, lost: [] };
  const isTakenUp = (): boolean => (sent.includes(cancel) ? status === 'cancelled' : untaken(db, run) === 0);
  const { wakeSeq, handledSeq } = internalsOf(app).store.threads.require(run);
  const lost = wakeSeq <= handledSeq && !isTakenUp() ? [`${run}: ${status}`] : [];
  if (status === 'waiting') {
    ({ status } = await app.run(run));
    if (!isTakenUp()) lost.push(`${run}, driven again: ${status}`);
  }
  return { wakes: sent.length, lost };
}

describe('a wake', { timeout: 300_000 }, () => {
  test(
    `at any moment of a run that ends or begins to wait is never lost: 0 of ${WAKES}`,
    ofOneFile('watches the connection'),
    async ({ dbPath, task }) => {
      const file = openTwice(dbPath);
      const lost: string[] = [];
      let wakes = 0;
      for (const scenario of SCENARIOS) {
        const [graph] = scenario;
        file.plan();
        const app = GRAPHS[graph](file.db);
        await app.run(`${graph}, measured ${wakes}`, {});
        const first = randomInt(EVERY);
        const pairs = everyPair(file.statements()).filter((_, index) => index % EVERY === first);
        for (const moments of pairs) {
          const told = await wakeTwice({ ...file, app }, scenario, moments);
          wakes += told.wakes;
          lost.push(...told.lost);
        }
      }
      tried(task, { ways: wakes, through: lost.length });
      expect(lost).toEqual([]);
      expect(wakes).toBeGreaterThanOrEqual(WAKES);
      file.db.close();
      file.elsewhere.close();
    },
  );

  test('that races with a driver in another process, or with its kill, is taken up by it or the next', async ({
    db,
    dbPath,
    task,
  }) => {
    let raced = 0;
    const desk = new Desk(dbPath);
    const threads = new ThreadStore(db);
    let driver = await Driver.start(dbPath);
    const lost: string[] = [];
    let kills = 0;
    for (let round = 0; round < RACES; round += 1) {
      const id = `run-${round}`;
      const isToDie = round % 4 === 3;
      for (let wakes = 0; wakes < 2; ) {
        const driving = driver.drive({ run: 'gated', id }).catch(ifGone);
        let answered = false;
        void driving.then(() => {
          answered = true;
        });
        let decided = 0;
        while (decided === 0 && !answered) {
          await new Promise(setImmediate);
          decided = threads.get(id) === null ? 0 : approve(db, id);
        }
        wakes += decided;
        raced += decided;
        if (isToDie && wakes === 1 && decided === 1) {
          kills += 1;
          await driver.kill();
          driver = await Driver.start(dbPath, kills % 2 === 1 ? UNWATCHED : []);
        }
        const answer = await driving;
        const { wakeSeq, handledSeq } = threads.require(id);
        const waits = answer !== null && 'status' in answer && answer.status === 'waiting';
        const open = new HitlSessionStore(db).listOpen(id).length;
        if (waits && open === 0 && wakeSeq <= handledSeq) lost.push(`${id} after ${wakes} wakes`);
      }
      const last = await driver.drive({ run: 'gated', id });
      if (!('status' in last) || last.status !== 'completed') lost.push(`${id}: ${JSON.stringify(last)}`);
    }
    tried(task, { ways: raced, through: lost.length });
    expect(lost).toEqual([]);
    expect(kills).toBe(Math.floor(RACES / 4));
    expect(new Set(desk.effects('last').map((line) => line.split(' ')[1])).size).toBe(RACES);
  });
});

function ifGone(error: unknown): null {
  if (error instanceof DriverGone) return null;
  throw error;
}
