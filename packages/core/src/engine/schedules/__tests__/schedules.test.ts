import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { waitFor } from '../../node/waitFor.ts';
import type { ScheduleOptions } from '../Schedule.ts';
import { fireDue, type SchedulerParts } from '../Scheduler.ts';

const ADA = { kind: 'human', id: 'ada' } as const;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const State = Annotation.Root({
  topic: Annotation<string>,
  done: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }),
});

function open(db: Database, now: () => number, { waits = false, name = 'reports' } = {}) {
  const builder = new StateGraph(State)
    .addNode('report', async () => {
      if (waits) await waitFor('go');
      return { done: 1 };
    })
    .addEdge(START, 'report')
    .addEdge('report', END);
  return durable(builder, { db, now, name });
}

type App = ReturnType<typeof open>;

/** The app's part of a worker. */
const partsOf = (app: App, replaced: Partial<SchedulerParts> = {}): SchedulerParts => ({
  rows: internalsOf(app).store.schedules,
  graph: app.queue.graph,
  start: (id, input, options) => app.start(id, input as { topic: string }, options),
  get: (id) => app.get(id),
  ...replaced,
});

const runsOf = async (app: App): Promise<readonly string[]> =>
  (await app.list({ limit: 1000 })).runs.map(({ id }) => id).toSorted();

const INPUT = { topic: 'sales' };
const at = (text: string): number => Date.parse(text);

describe('schedules', () => {
  test('start a run at each time, under an id of its own, and what was missed comes once', async ({ db }) => {
    let now = at('2026-06-01T07:00:00Z');
    const app = open(db, () => now);
    const made = await app.schedule('report', { cron: '0 8 * * *', tags: ['daily'], by: ADA }, INPUT);
    expect(made.nextAt).toEqual(new Date('2026-06-01T08:00:00Z'));
    await fireDue(partsOf(app));
    expect(await runsOf(app)).toEqual([]);
    now = at('2026-06-01T08:00:00Z');
    await fireDue(partsOf(app));
    await fireDue(partsOf(app));
    expect(await runsOf(app)).toEqual(['report@2026-06-01T08:00:00Z']);
    await app.run('report@2026-06-01T08:00:00Z');
    now = at('2026-06-08T12:00:00Z');
    await fireDue(partsOf(app));
    await fireDue(partsOf(app));
    expect(await runsOf(app)).toEqual(['report@2026-06-01T08:00:00Z', 'report@2026-06-02T08:00:00Z']);
    const { lastRun, nextAt, lastAt } = only(await app.schedules());
    expect({ lastRun, nextAt, lastAt }).toEqual({
      lastRun: 'report@2026-06-02T08:00:00Z',
      nextAt: new Date('2026-06-09T08:00:00Z'),
      lastAt: new Date('2026-06-02T08:00:00Z'),
    });
    const [run] = (await app.list({ tags: ['daily'] })).runs;
    expect(run?.id).toBe('report@2026-06-02T08:00:00Z');
  });

  test.each([
    ['when an hour is missing', '2026-03-27', '2026-03-31'],
    ['when an hour comes twice', '2026-10-23', '2026-10-27'],
  ])('of two processes fire once a day in a time zone, also %s', async (_when, first, last) => {
    let now = at(`${first}T00:00:00Z`);
    const db = createDatabase({ dbPath: ':memory:' });
    const [one, two] = [open(db, () => now), open(db, () => now)];
    const times = { cron: '30 2 * * *', timeZone: 'Europe/Berlin', overlap: 'allow' } as const;
    await one.schedule('night', times, INPUT);
    await two.schedule('night', times, INPUT);
    for (; now < at(`${last}T00:00:00Z`); now += 10 * 60_000)
      await Promise.all([fireDue(partsOf(one)), fireDue(partsOf(two))]);
    const ids = await runsOf(one);
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Berlin' });
    const days = ids.map((id) => day.format(new Date(id.split('@')[1] ?? '')));
    expect(new Set(days).size).toBe(4);
    expect(days).toHaveLength(4);
    db.close();
  });

  test('whose process dies before or after the run was recorded start it once', async ({ db }) => {
    let now = at('2026-06-01T08:00:00Z');
    const app = open(db, () => now);
    await app.schedule('report', { every: HOUR_MS }, INPUT);
    const gone = new Error('The process is gone.');
    now += HOUR_MS;
    const before = partsOf(app, { start: () => Promise.reject(gone) });
    await expect(fireDue(before)).rejects.toThrow(gone);
    now += 5 * HOUR_MS;
    const parts = partsOf(app);
    const after: SchedulerParts = {
      ...parts,
      start: async (...run) => {
        await parts.start(...run);
        throw gone;
      },
    };
    await expect(fireDue(after)).rejects.toThrow(gone);
    expect(await runsOf(app)).toEqual(['report@2026-06-01T09:00:00Z']);
    await fireDue(parts);
    expect(await runsOf(app)).toEqual(['report@2026-06-01T09:00:00Z']);
    await app.run('report@2026-06-01T09:00:00Z');
    await fireDue(parts);
    expect(await runsOf(app)).toEqual(['report@2026-06-01T09:00:00Z', 'report@2026-06-01T10:00:00Z']);
  });

  test('fire no time twice when the clock is set back and forward', async ({ db }) => {
    let now = at('2026-06-01T00:00:00Z');
    const app = open(db, () => now);
    await app.schedule('report', { cron: '0 * * * *', overlap: 'allow' }, INPUT);
    const fired: string[] = [];
    const parts = partsOf(app, { start: async (id) => void fired.push(id) });
    for (const moved of [HOUR_MS, HOUR_MS, -3 * DAY_MS, HOUR_MS, 5 * DAY_MS, HOUR_MS, -2 * DAY_MS, HOUR_MS]) {
      now += moved;
      await fireDue(parts);
    }
    expect(new Set(fired).size).toBe(fired.length);
    expect(fired.length).toBeGreaterThanOrEqual(4);
  });

  test.each([
    ['skip', ['report@2026-06-01T01:00:00Z', 'report@2026-06-01T04:00:00Z']],
    ['wait', ['report@2026-06-01T01:00:00Z', 'report@2026-06-01T02:00:00Z']],
    ['allow', ['01', '02', '03', '04'].map((hour) => `report@2026-06-01T${hour}:00:00Z`)],
  ] as const)('let a firing %s while the last run goes on', async (overlap, ids) => {
    let now = at('2026-06-01T00:00:00Z');
    const db = createDatabase({ dbPath: ':memory:' });
    const app = open(db, () => now, { waits: true });
    await app.schedule('report', { every: HOUR_MS, overlap }, INPUT);
    for (let hour = 0; hour < 3; hour += 1) {
      now += HOUR_MS;
      await fireDue(partsOf(app));
    }
    await app.cancel('report@2026-06-01T01:00:00Z', { by: ADA });
    now += HOUR_MS;
    await fireDue(partsOf(app));
    expect(await runsOf(app)).toEqual(ids);
    db.close();
  });

  test('make turns of one run', async ({ db }) => {
    let now = at('2026-06-01T00:00:00Z');
    const app = open(db, () => now);
    await app.schedule('tick', { every: DAY_MS, thread: 'chat-1' }, INPUT);
    for (let day = 0; day < 2; day += 1) {
      now += DAY_MS;
      await fireDue(partsOf(app));
      await app.run('chat-1');
    }
    expect((await app.turns('chat-1')).map(({ turn }) => turn)).toEqual([
      'tick@2026-06-02T00:00:00Z',
      'tick@2026-06-03T00:00:00Z',
    ]);
    expect((await app.values('chat-1'))?.done).toBe(2);
  });

  test('say why a firing started no run, and go on', async ({ db }) => {
    let now = at('2026-06-01T00:00:00Z');
    const app = open(db, () => now);
    await app.run('tick@2026-06-01T01:00:00Z', { topic: 'other' });
    await app.schedule('tick', { every: HOUR_MS }, INPUT);
    now += HOUR_MS;
    await fireDue(partsOf(app));
    expect(only(await app.schedules())).toMatchObject({
      lastRun: null,
      error: expect.stringContaining('different input'),
    });
    now += HOUR_MS;
    await fireDue(partsOf(app));
    expect(only(await app.schedules())).toMatchObject({ lastRun: 'tick@2026-06-01T02:00:00Z', error: null });
  });

  test('stay as they are when they are declared again, and are replaced by others', async ({ db }) => {
    let now = at('2026-06-01T00:00:00Z');
    const app = open(db, () => now);
    const first = await app.schedule('report', { every: HOUR_MS, tags: ['a'] }, INPUT);
    now += HOUR_MS / 2;
    expect(await app.schedule('report', { every: HOUR_MS, tags: ['a'] }, INPUT)).toEqual(first);
    const other = await app.schedule('report', { every: HOUR_MS }, INPUT);
    expect(other.nextAt).toEqual(new Date('2026-06-01T01:30:00Z'));
    const stranger = open(db, () => now, { name: 'others' });
    await expect(stranger.schedule('report', { every: HOUR_MS }, INPUT)).rejects.toMatchObject({
      code: 'INPUT_NOT_TAKEN',
    });
    expect(await stranger.schedules()).toEqual([]);
    now += DAY_MS;
    await fireDue(partsOf(stranger));
    expect(await runsOf(app)).toEqual([]);
    expect(await app.unschedule('report')).toBe(true);
    expect(await app.unschedule('report')).toBe(false);
    await fireDue(partsOf(app));
    expect(await runsOf(app)).toEqual([]);
  });

  test('end', async ({ db }) => {
    let now = at('2026-06-01T00:00:00Z');
    const app = open(db, () => now);
    const until = new Date(now + 2 * HOUR_MS);
    await app.schedule('report', { every: HOUR_MS, until, overlap: 'allow' }, INPUT);
    for (let hour = 0; hour < 4; hour += 1) {
      now += HOUR_MS;
      await fireDue(partsOf(app));
    }
    expect(await runsOf(app)).toHaveLength(2);
    expect(only(await app.schedules())).toMatchObject({ nextAt: null, times: { until } });
  });

  test('are fired by `work`, which executes their runs', async ({ db }) => {
    const app = open(db, Date.now);
    await app.schedule('report', { every: 1000 }, INPUT);
    const end = new AbortController();
    const ended: string[] = [];
    const onRun = ({ id, status }: { readonly id: string; readonly status: string }) => {
      ended.push(`${id.split('@')[0]} ${status}`);
      end.abort();
    };
    await app.work({ signal: end.signal, onRun });
    expect(ended[0]).toBe('report completed');
  });

  const REFUSED: readonly (readonly [string, object, unknown, RegExp])[] = [
    ['report', {}, INPUT, /exactly one/],
    ['report', { cron: '0 8 * * *', every: HOUR_MS }, INPUT, /exactly one/],
    ['report', { cron: 'every day' }, INPUT, /cron/],
    ['report', { cron: '99 8 * * *' }, INPUT, /cron/],
    ['report', { cron: '* * * * * *' }, INPUT, /cron/],
    ['report', { cron: '0 8 * * *', timeZone: 'Mars/Base' }, INPUT, /cron|zone/i],
    ['report', { cron: '0 0 30 2 *' }, INPUT, /never fire/],
    ['report', { every: 10 }, INPUT, /every/],
    ['report', { every: Number.NaN }, INPUT, /every/],
    ['report', { every: HOUR_MS, timeZone: 'UTC' }, INPUT, /timeZone/],
    ['report', { every: HOUR_MS, overlap: 'never' }, INPUT, /overlap/],
    ['report', { every: HOUR_MS, until: new Date(Number.NaN) }, INPUT, /until/],
    ['report', { every: HOUR_MS, until: new Date(0) }, INPUT, /never fire/],
    ['report', { every: HOUR_MS, turn: 'a' }, INPUT, /turn/],
    ['report', { every: HOUR_MS, webhook: 'https://evil.example' }, INPUT, /webhook/],
    ['report', { every: HOUR_MS, thread: '' }, INPUT, /thread/],
    ['a/b', { every: HOUR_MS }, INPUT, /id/],
    ['', { every: HOUR_MS }, INPUT, /id/],
    ['report', { every: HOUR_MS }, undefined, /input/],
    ['report', { every: HOUR_MS }, { topic: new Map() }, /cannot be stored/],
    ['report', { every: HOUR_MS }, { topic: 'x'.repeat(1024 * 1024) }, /limit/],
  ];
  test.each(REFUSED)('that cannot be kept are refused: %s %j', async (id, options, input, message) => {
    const db = createDatabase({ dbPath: ':memory:' });
    const app = open(db, Date.now);
    await expect(app.schedule(id, options as ScheduleOptions, input as { topic: string })).rejects.toThrow(
      message,
    );
    expect(await app.schedules()).toEqual([]);
    db.close();
  });
});
