import assert from 'node:assert/strict';
import { ADA, driveMail, type MailApp, mailApp, waitingMail, YES } from './mail.ts';
import type { RunsCase } from './RunsUnderTest.ts';

export const GATE_EVENT_CASES: readonly RunsCase[] = [
  {
    name: 'events about gates of all runs are read in their order, from a cursor on',
    async check({ runs, elsewhere }) {
      const app = mailApp(runs, 'asks');
      const other = mailApp(elsewhere, 'asks');
      const first = await waitingMail(app, 'm');
      const [opened] = await eventsBehind(other, undefined);
      await waitingMail(app, 'n');
      await other.decide(first, YES);
      await driveMail(app, 'm');
      const later = await eventsBehind(other, opened?.cursor);
      assert.deepEqual(
        [opened, ...later].map((event) => [event?.threadId, event?.name]),
        [
          ['m', 'HITL_SESSION_OPENED'],
          ['n', 'HITL_SESSION_OPENED'],
          ['m', 'HITL_SESSION_DECIDED'],
        ],
      );
      assert.deepEqual(opened?.payload, { sessionId: first.sessionId, kind: first.kind, taskId: 'm' });
      assert.deepEqual(await eventsBehind(app, undefined), [opened, ...later]);
      const cursors = [opened, ...later].map((event) => Number(event?.cursor));
      assert.ok(cursors.every((cursor, at) => at === 0 || cursor > (cursors[at - 1] ?? 0)));
      assert.deepEqual(await eventsBehind(app, later.at(-1)?.cursor), []);
    },
  },
  {
    name: 'who waits for events about gates is given each once, until he wants no more',
    async check({ runs, elsewhere }) {
      const app = mailApp(runs, 'asks');
      const stop = new AbortController();
      const heard: string[] = [];
      const listening = (async () => {
        for await (const { threadId, name } of mailApp(elsewhere, 'asks').gateEvents({
          signal: stop.signal,
        })) {
          heard.push(`${threadId} ${name}`);
          if (name === 'HITL_SESSION_DECIDED') stop.abort();
        }
      })();
      await app.decide(await waitingMail(app, 'm'), { value: 'yes', by: ADA });
      await driveMail(app, 'm');
      await listening;
      assert.deepEqual(heard, ['m HITL_SESSION_OPENED', 'm HITL_SESSION_DECIDED']);
    },
  },
  {
    name: 'a cursor that was not given out here is refused',
    async check({ runs }) {
      const app = mailApp(runs, 'asks');
      for (const after of ['x', '-1', '1.5', '']) await assert.rejects(eventsBehind(app, after), RangeError);
      await assert.rejects(eventsBehind(app, '999999999999'), RangeError);
    },
  },
];

async function eventsBehind(app: MailApp, after: string | undefined) {
  const events = [];
  for await (const event of app.gateEvents({ after, wait: false })) events.push(event);
  return events;
}
