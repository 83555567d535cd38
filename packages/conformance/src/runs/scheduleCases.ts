import assert from 'node:assert/strict';
import type { RunsCase } from './RunsUnderTest.ts';

const HOUR_MS = 3_600_000;

export const SCHEDULE_CASES: readonly RunsCase[] = [
  {
    name: 'a schedule is kept as it was given, replaced, listed and removed',
    async check({ runs: { schedules }, elsewhere }) {
      const at = await schedules.now();
      assert.ok(Math.abs(at - Date.now()) < HOUR_MS);
      const times = { cron: '0 8 * * *', timeZone: 'Europe/Berlin', overlap: 'wait' } as const;
      const given = { input: { text: 'nul \0 and ü' }, options: { tags: ['a'] } };
      const schedule = { id: 'a', graph: 'mail', times, given, createdAt: at, nextAt: at + HOUR_MS };
      await schedules.put(schedule);
      await schedules.put({ ...schedule, id: 'b', graph: 'post', nextAt: null });
      const kept = { ...schedule, firingAt: null, lastAt: null, lastRun: null, error: null };
      assert.deepEqual(await elsewhere.schedules.get('a'), kept);
      assert.deepEqual(await schedules.get('c'), null);
      assert.deepEqual(
        (await elsewhere.schedules.list(10)).map(({ id }) => id),
        ['a', 'b'],
      );
      assert.deepEqual(await elsewhere.schedules.list(10, 'mail'), [kept]);
      await elsewhere.schedules.put({ ...schedule, times: { every: HOUR_MS } });
      assert.deepEqual((await schedules.get('a'))?.times, { every: HOUR_MS });
      assert.deepEqual([await schedules.remove('a'), await schedules.remove('a')], [true, false]);
      assert.deepEqual(await elsewhere.schedules.list(10, 'mail'), []);
    },
  },
  {
    name: 'a firing is taken by one of two, found by both until its run is recorded, and then is the last',
    async check({ runs: { schedules }, elsewhere }) {
      const nextAt = (await schedules.now()) - 5;
      const row = { id: 'a', graph: 'mail', times: { every: HOUR_MS }, createdAt: nextAt - HOUR_MS, nextAt };
      await schedules.put({ ...row, given: { input: 1, options: {} } });
      await schedules.put({
        ...row,
        id: 'later',
        nextAt: nextAt + HOUR_MS,
        given: { input: 1, options: {} },
      });
      const ids = async (graph = 'mail') => (await elsewhere.schedules.due(graph)).map(({ id }) => id);
      assert.deepEqual([await ids(), await ids('post')], [['a'], []]);
      const advance = { from: nextAt, to: nextAt + HOUR_MS, fires: true };
      const taken = await Promise.all([
        schedules.advance('a', advance),
        elsewhere.schedules.advance('a', advance),
      ]);
      assert.deepEqual(taken.toSorted(), [false, true]);
      assert.deepEqual(
        (await elsewhere.schedules.due('mail')).map(({ firingAt }) => firingAt),
        [nextAt],
      );
      await schedules.fired('a', { firingAt: nextAt, run: 'a@1', error: null });
      await elsewhere.schedules.fired('a', { firingAt: nextAt, run: 'other', error: null });
      assert.deepEqual(await ids(), []);
      const { firingAt, lastAt, lastRun, nextAt: then } = (await schedules.get('a')) ?? {};
      assert.deepEqual([firingAt, lastAt, lastRun, then], [null, nextAt, 'a@1', nextAt + HOUR_MS]);
      await schedules.advance('a', { from: nextAt + HOUR_MS, to: null, fires: false });
      assert.equal((await elsewhere.schedules.get('a'))?.nextAt, null);
    },
  },
];
