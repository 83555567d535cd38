import assert from 'node:assert/strict';
import type { OutboxEvent } from '../../../core/src/state/events/EventStore.ts';
import { driveMail, mailApp, waitingMail, YES } from './mail.ts';
import type { RunsCase, RunsUnderTest } from './RunsUnderTest.ts';

const HOUR_MS = 3_600_000;
const HELD = { limit: 10, holdMs: HOUR_MS } as const;
const NOW = { limit: 10, holdMs: 0 } as const;

export const WEBHOOK_CASES: readonly RunsCase[] = [
  {
    name: 'of each run its first event is claimed, by one sender, until that was delivered',
    async check(made) {
      const { webhooks } = made.runs;
      const events = await queued(made);
      const first = await webhooks.claim('team', HELD);
      assert.deepEqual(
        first.map(({ event, attempts, ageMs }) => [event, attempts, ageMs]),
        [
          [events[0], 1, 0],
          [events[1], 1, 0],
        ],
      );
      assert.deepEqual(await made.elsewhere.webhooks.claim('team', HELD), []);
      await webhooks.delivered('team', cursorAt(events, 0));
      const next = await made.elsewhere.webhooks.claim('team', HELD);
      assert.deepEqual(
        next.map(({ event }) => event),
        [events[2]],
      );
    },
  },
  {
    name: 'a sender that is gone has its events claimed again, and counted',
    async check(made) {
      const { webhooks } = made.runs;
      const events = await queued(made);
      await webhooks.claim('team', NOW);
      const again = await made.elsewhere.webhooks.claim('team', HELD);
      assert.deepEqual(
        again.map(({ event, attempts }) => [event.cursor, attempts]),
        [
          [cursorAt(events, 0), 2],
          [cursorAt(events, 1), 2],
        ],
      );
    },
  },
  {
    name: 'what failed waits, what was given up is listed and no longer in the way, and is claimed again when asked',
    async check(made) {
      const { webhooks } = made.runs;
      const events = await queued(made);
      await webhooks.claim('team', HELD);
      await webhooks.failed('team', cursorAt(events, 1), { error: 'later', againInMs: HOUR_MS });
      await webhooks.failed('team', cursorAt(events, 0), { error: 'no\0 more', againInMs: null });
      assert.deepEqual(
        (await webhooks.claim('team', HELD)).map(({ event }) => event),
        [events[2]],
      );
      const listed = await made.elsewhere.webhooks.list(10);
      assert.deepEqual(
        listed.map(({ target, threadId, name, attempts }) => [target, threadId, name, attempts]),
        [
          ['team', 'm', 'HITL_SESSION_OPENED', 1],
          ['team', 'n', 'HITL_SESSION_OPENED', 1],
          ['team', 'm', 'HITL_SESSION_DECIDED', 1],
        ],
      );
      assert.deepEqual(
        listed.map(({ givenUpAt }) => givenUpAt !== null),
        [true, false, false],
      );
      assert.ok((listed[1]?.nextAt ?? 0) > Date.now() + HOUR_MS / 2);
      assert.equal(await webhooks.again('team'), 1);
      assert.deepEqual(
        (await webhooks.claim('team', HELD)).map(({ event }) => event),
        [events[0]],
      );
    },
  },
  {
    name: 'the place of a target is moved once, and a new one leaves out what is old',
    async check({ runs, elsewhere }) {
      const events = await threeEvents(runs);
      const place = await runs.webhooks.place('team', HOUR_MS);
      assert.equal(place.after, '0');
      assert.ok(Math.abs(Date.now() - HOUR_MS - place.since) < HOUR_MS / 2);
      assert.deepEqual(await elsewhere.webhooks.place('team', 0), place);
      const to = cursorAt(events, 1);
      await runs.webhooks.queue('team', { from: '0', to, events: events.slice(0, 1) });
      await elsewhere.webhooks.queue('team', { from: '0', to, events: events.slice(0, 2) });
      assert.equal((await runs.webhooks.place('team', 0)).after, to);
      assert.equal((await runs.webhooks.list(10)).length, 1);
    },
  },
];

const cursorAt = (events: readonly OutboxEvent[], at: number): string => events[at]?.cursor ?? '';

async function threeEvents(runs: RunsUnderTest['runs']): Promise<readonly OutboxEvent[]> {
  const app = mailApp(runs, 'asks');
  const first = await waitingMail(app, 'm');
  await waitingMail(app, 'n');
  await app.decide(first, YES);
  await driveMail(app, 'm');
  const events = await runs.gateEvents({ limit: 100 });
  assert.deepEqual(
    events.map(({ threadId }) => threadId),
    ['m', 'n', 'm'],
  );
  return events;
}

/** Three events, two of run `m`, for the target `team`. */
async function queued({ runs }: RunsUnderTest): Promise<readonly OutboxEvent[]> {
  const events = await threeEvents(runs);
  await runs.webhooks.place('team', HOUR_MS);
  await runs.webhooks.queue('team', { from: '0', to: cursorAt(events, 2), events });
  return events;
}
