import assert from 'node:assert/strict';
import type { Gate } from '../../../core/src/engine/gates/Gate.ts';
import { ADA, BOB, driveMail, type MailApp, mailApp, rejected, waitingMail, YES } from './mail.ts';
import type { RunsCase } from './RunsUnderTest.ts';

const FOLLOWS: readonly RunsCase[] = [
  {
    name: 'who follows a run is given every event once, in order, until it has ended',
    async check({ runs, elsewhere }) {
      const app = mailApp(runs, 'asks');
      await app.start('m', { log: [] });
      const following = mailApp(elsewhere, 'asks');
      const [all, later] = [eventsOf(following, 'm'), eventsOf(following, 'm', 2)];
      const ended = following.result('m', { wait: true });
      const { gates } = await driveMail(app, 'm');
      await following.decide(gates[0] as Gate, YES);
      await driveMail(app, 'm');
      const recorded = await eventsOf(app, 'm');
      assert.deepEqual(await all, recorded);
      assert.deepEqual(
        await later,
        recorded.filter(({ seq }) => seq > 2),
      );
      assert.deepEqual(
        recorded.map(({ seq }) => seq),
        recorded.map((_, n) => n + 1),
      );
      assert.deepEqual(recorded.at(-1)?.name, 'RUN_FINISHED');
      assert.equal((await ended).status, 'completed');
    },
  },
  {
    name: 'who waits is let go of when he wants to be, and finds the run where it stands',
    async check({ runs, elsewhere }) {
      const app = mailApp(runs, 'asks');
      await waitingMail(app, 'm');
      const stop = new AbortController();
      const following = mailApp(elsewhere, 'asks');
      const ended = following.result('m', { wait: true, signal: stop.signal });
      const events = eventsOf(following, 'm', 0, stop.signal);
      stop.abort();
      assert.equal((await ended).status, 'waiting');
      await events;
      await assert.rejects(following.result('nobody', { wait: true }), rejected('THREAD_NOT_FOUND'));
    },
  },
];

async function eventsOf(
  app: MailApp,
  id: string,
  after = 0,
  signal?: AbortSignal,
): Promise<readonly { readonly seq: number; readonly name: string }[]> {
  const events = [];
  const options = { after, ...(signal && { signal }) };
  for await (const { seq, name } of app.follow(id, options)) events.push({ seq, name });
  return events;
}

const FORKS: readonly RunsCase[] = [
  {
    name: 'a run is forked where it stood, and both go their own way',
    async check({ runs, elsewhere }) {
      const app = mailApp(runs, 'asks');
      const gate = await waitingMail(app, 'm');
      const other = mailApp(elsewhere, 'asks');
      assert.equal((await other.fork('m', { as: 'n', by: ADA })).id, 'n');
      await assert.rejects(other.fork('m', { as: 'n', by: ADA }), rejected('THREAD_EXISTS'));
      await assert.rejects(other.fork('nobody', { as: 'o', by: ADA }), rejected('THREAD_NOT_FOUND'));
      assert.equal((await driveMail(app, 'n')).status, 'waiting');
      const [own] = await app.gates('n');
      assert.notEqual(own?.sessionId, gate.sessionId);
      await app.decide(own as Gate, { value: 'no', by: BOB });
      assert.equal((await driveMail(app, 'n')).status, 'completed');
      assert.deepEqual(await app.values('n'), { log: ['asked: no', 'sent'] });
      assert.deepEqual(await app.gates('m'), [gate]);
      assert.deepEqual(
        (await runs.list()).runs.map(({ id, status }) => [id, status]),
        [
          ['n', 'completed'],
          ['m', 'waiting'],
        ],
      );
    },
  },
  {
    name: 'a run that has ended is deleted by a human, and no other',
    async check({ runs, elsewhere }) {
      const app = mailApp(runs, 'asks');
      const gate = await waitingMail(app, 'm');
      const other = mailApp(elsewhere, 'asks');
      await assert.rejects(other.delete('m', { by: ADA }), rejected('REMOVE_REFUSED'));
      await app.decide(gate, YES);
      await driveMail(app, 'm');
      const agent = { kind: 'agent', id: 'a' } as const;
      await assert.rejects(other.delete('m', { by: agent }), rejected('AGENT_MAY_NOT_DECIDE'));
      const held = await runs.hold('m');
      await assert.rejects(other.delete('m', { by: ADA }), rejected('THREAD_BUSY'));
      await held.close();
      const { runs: count, bytes } = await other.delete('m', { by: ADA });
      assert.ok(count === 1 && bytes >= 0);
      await assert.rejects(app.values('m'), rejected('THREAD_NOT_FOUND'));
      await assert.rejects(other.delete('m', { by: ADA }), rejected('THREAD_NOT_FOUND'));
      assert.deepEqual((await runs.list()).runs, []);
      assert.equal(await runs.runOfGate(gate.sessionId), null);
      await app.start('m', { log: ['again'] });
      assert.deepEqual(await app.gates('m'), []);
    },
  },
  {
    name: 'who holds a run may delete it instead of letting go of it',
    async check({ runs, elsewhere }) {
      await mailApp(runs, 'asks').start('m', { log: [] });
      const held = await runs.hold('m');
      assert.equal(await held.remove(), true);
      await held.close();
      await assert.rejects(elsewhere.open('m'), rejected('THREAD_NOT_FOUND'));
    },
  },
];

/** Following, forking and deleting a run. */
export const FOLLOW_CASES: readonly RunsCase[] = [...FOLLOWS, ...FORKS];
