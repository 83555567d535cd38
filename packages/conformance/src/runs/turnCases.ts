import assert from 'node:assert/strict';
import type { Gate } from '../../../core/src/engine/gates/Gate.ts';
import { ADA, driveMail, mailApp, rejected, YES } from './mail.ts';
import type { RunsCase } from './RunsUnderTest.ts';

/** Turns that are recorded while the run is in another one, or after values that somebody wrote. */
export const TURN_CASES: readonly RunsCase[] = [
  {
    name: 'new values of an ended turn that lead to no node are what the next turn begins with',
    async check({ runs, elsewhere }) {
      const [app, other] = [mailApp(runs, 'works'), mailApp(elsewhere, 'works')];
      await app.start('m', { log: ['one'] }, { turn: 't-1' });
      await driveMail(app, 'm');
      await other.updateState('m', { log: ['by hand'] }, { by: ADA });
      assert.equal((await app.get('m'))?.status, 'completed');
      await other.start('m', { log: ['two'] }, { turn: 't-2' });
      assert.equal((await driveMail(app, 'm')).status, 'completed');
      const log = ['one', 'worked', 'sent', 'by hand', 'two', 'worked', 'sent'];
      assert.deepEqual(await other.values('m'), { log });
      const turns = (await app.turns('m')).map(({ turn, status }) => [turn, status]);
      assert.deepEqual(turns, [
        ['t-1', 'completed'],
        ['t-2', 'completed'],
      ]);
    },
  },
  {
    name: 'a turn is queued behind the one that waits, answers nothing, and begins when that has ended',
    async check({ runs, elsewhere }) {
      const [app, other] = [mailApp(runs, 'asks'), mailApp(elsewhere, 'asks')];
      await app.start('m', { log: ['one'] }, { turn: 't-1' });
      await driveMail(app, 'm');
      const next = { turn: 't-2', multitaskStrategy: 'enqueue' } as const;
      await Promise.all([other.start('m', { log: ['two'] }, next), app.start('m', { log: ['two'] }, next)]);
      await assert.rejects(other.start('m', { log: ['three'] }, next), rejected('INPUT_NOT_TAKEN'));
      await assert.rejects(other.start('m', { log: ['x'] }, { turn: 't-9' }), rejected('INPUT_NOT_TAKEN'));
      assert.deepEqual(
        (await other.turns('m')).map(({ turn, status }) => [turn, status]),
        [
          ['t-1', 'waiting'],
          ['t-2', 'queued'],
        ],
      );
      assert.equal((await driveMail(app, 'm')).status, 'waiting');
      await other.decide((await other.gates('m'))[0] as Gate, YES);
      await driveMail(app, 'm');
      assert.equal((await driveMail(app, 'm')).status, 'waiting');
      assert.deepEqual(await other.values('m'), { log: ['one', 'asked: yes', 'sent', 'two'] });
      assert.deepEqual(
        (await other.turns('m')).map(({ turn, status }) => [turn, status]),
        [
          ['t-1', 'completed'],
          ['t-2', 'waiting'],
        ],
      );
    },
  },
  {
    name: 'a turn that interrupts cancels the one that waits and those that are queued; a queued one can be cancelled',
    async check({ runs, elsewhere }) {
      const [app, other] = [mailApp(runs, 'asks'), mailApp(elsewhere, 'asks')];
      await app.start('m', { log: ['one'] }, { turn: 't-1' });
      await driveMail(app, 'm');
      const [gate] = await app.gates('m');
      for (const turn of ['t-2', 't-3'])
        await other.start('m', { log: [turn] }, { turn, multitaskStrategy: 'enqueue' });
      const accepts = async (turn: string) => (await other.cancel('m', { turn, by: ADA })).isAccepted;
      assert.equal(await accepts('t-2'), true);
      assert.equal(await accepts('t-2'), false);
      assert.equal(await accepts('unknown'), false);
      assert.deepEqual(
        (await other.turns('m')).map(({ status }) => status),
        ['waiting', 'cancelled', 'queued'],
      );
      const agent = { kind: 'agent', id: 'robot' } as const;
      const now = { turn: 't-4', multitaskStrategy: 'interrupt' } as const;
      await assert.rejects(
        other.start('m', { log: ['4'] }, { ...now, by: agent }),
        rejected('AGENT_MAY_NOT_DECIDE'),
      );
      await other.start('m', { log: ['four'] }, { ...now, by: ADA });
      await driveMail(app, 'm');
      assert.equal((await driveMail(app, 'm')).status, 'waiting');
      assert.deepEqual((await other.turns('m')).map(({ turn, status }) => [turn, status]).sort(), [
        ['t-1', 'cancelled'],
        ['t-2', 'cancelled'],
        ['t-3', 'cancelled'],
        ['t-4', 'waiting'],
      ]);
      await assert.rejects(other.decide(gate as Gate, YES));
      assert.deepEqual(await other.values('m'), { log: ['one', 'four'] });
      assert.equal(await accepts('t-1'), false);
      assert.equal((await other.gates('m')).length, 1);
    },
  },
];
