import { setTimeout as sleep } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { only } from '../support/only.ts';
import { Receiver } from '../support/Receiver.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { hookedApp } from './hookedGraph.ts';

const SECRET = 'a secret of the receiver';
/** Each has three events: its gate, the decision and its end. */
const RUNS = howMany('DEVS_WEBHOOK_RUNS', 8);
const KILLS = howMany('DEVS_WEBHOOK_KILLS', 2);
/** Of one event: every further one doubles how long the sender waits. */
const MOST_REFUSALS = 3;
const MINUTE_MS = 60_000;

const child = 'packages/core/test/webhooks/sender.child.ts';

/** Claims of a sender that is gone end after 30 seconds; here they end now. */
function endClaims(dbPath: string): void {
  const db = new BetterSqlite3(dbPath);
  db.prepare('UPDATE webhook_deliveries SET next_at = 0 WHERE attempts > 0').run();
  db.close();
}

test(
  'a sender that is killed, and a receiver that fails at random: each event arrives, in the order of its run',
  async ({ dbPath }) => {
    const refusals = new Map<string, number>();
    const team = await Receiver.start(SECRET, (id) => {
      const refused = refusals.get(id) ?? 0;
      if (refused === MOST_REFUSALS || Math.random() >= 0.3) return 204;
      refusals.set(id, refused + 1);
      return 500;
    });
    const app = hookedApp(dbPath, team.url, SECRET);
    const isKilledAt = (count: number, kill: number) => count >= ((kill + 1) * RUNS * 3) / (KILLS + 2);
    const killing = (async () => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const sender = spawnProgram(child, [dbPath, team.url, SECRET]);
        const ended = sender.finished.then(() => true);
        while (!isKilledAt(team.received.length, kill))
          if (await Promise.race([ended, sleep(5, false)])) break;
        sender.child.kill('SIGKILL');
        const { signal, stderr } = await sender.finished;
        expect(signal, stderr).toBe('SIGKILL');
        endClaims(dbPath);
      }
    })();
    for (let run = 0; run < RUNS; run += 1) {
      const { gates } = await app.run(`post-${run}`, { text: '' });
      await app.decide(only(gates), { approved: true, by: { kind: 'human', id: 'ada' } });
      await app.run(`post-${run}`);
    }
    await killing;
    const last = spawnProgram(child, [dbPath, team.url, SECRET]);
    while ((await app.undelivered()).length > 0 || team.taken.length < 3 * RUNS) await sleep(20);
    last.child.kill('SIGKILL');
    await last.finished;
    app.close();
    await team.stop();
    expect(team.received.every(({ isGenuine }) => isGenuine)).toBe(true);
    for (let run = 0; run < RUNS; run += 1)
      expect(team.taken.filter((each) => each.run === `post-${run}`).map(({ type }) => type)).toEqual([
        'HITL_SESSION_OPENED',
        'HITL_SESSION_DECIDED',
        'RUN_FINISHED',
      ]);
  },
  MINUTE_MS * (1 + KILLS),
);
