import { twoSteps } from '../../../src/engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../../src/engine/file/appInternals.ts';
import { AClock, DAY, HOUR } from '../../../src/engine/waits/__tests__/aClock.ts';
import type { Process, Scenario } from './Scenario.ts';

/** Nobody decides: a reminder, another person, and a no at the end. */
async function live({ db, durable }: Process, id: string): Promise<unknown> {
  const clock = new AClock();
  const app = durable(twoSteps(), {
    db,
    now: clock.now,
    gates: {
      second: {
        show: () => 'go?',
        onReject: () => ({ log: ['refused'] }),
        deadlines: [
          { within: HOUR, do: 'remind' },
          { within: 2 * HOUR, do: { reassign: ['bob'] } },
          { within: DAY, do: 'reject' },
        ],
      },
    },
  });
  await app.run(id, {});
  for (let looks = 0; looks < 30; looks += 1) {
    await app.runDue();
    if (internalsOf(app).store.threads.require(id).status === 'completed') return (await app.values(id))?.log;
    clock.step(HOUR);
  }
  throw new Error('The run does not end.');
}

const DONE = ['HITL_SESSION_OPENED', 'GATE_REMINDED', 'GATE_REASSIGNED', 'HITL_SESSION_DECIDED'];

export const deadlines: Scenario = {
  what: 'a run whose gate nobody decides',
  deaths: { atWrites: 5, byKill: 1 },
  throughRuns: true,
  start: (process) => (run) => live(process, run),
  expected: () => ({ outcome: ['first', 'refused'], inFile: { done: DONE, decidedTwice: 0 } }),
  inFile: ({ db }, run) => ({
    done: db
      .prepare(
        'SELECT name FROM events WHERE thread_id = ? AND name IN (SELECT value FROM json_each(?)) ORDER BY seq',
      )
      .pluck()
      .all(run, JSON.stringify(DONE)),
    decidedTwice: db
      .prepare('SELECT count(*) - count(DISTINCT session_id) FROM hitl_decisions')
      .pluck()
      .get(),
  }),
};
