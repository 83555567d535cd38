import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { internalsOf } from '../../../src/engine/file/appInternals.ts';
import { step } from '../../../src/engine/node/step.ts';
import { sleep, waitFor } from '../../../src/engine/node/waitFor.ts';
import { onceForEachKey, type Process, type Scenario } from './Scenario.ts';

const HOUR = 3_600_000;
const State = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

/** A run that sleeps, is told something and waits in vain, beside a branch that sleeps longer. */
function waiting(effect: Process['effect']) {
  const told = async () => {
    await step('asleep', ({ key }) => effect('asleep', key));
    await sleep(HOUR);
    await step('awake', ({ key }) => effect('awake', key));
    const { amount } = await waitFor<{ readonly amount: number }>('paid');
    const late = await waitFor('late', { within: HOUR });
    return { log: ['asleep', 'awake', `paid ${amount}`, late.timedOut ? 'nobody came' : 'somebody came'] };
  };
  const beside = async () => {
    await sleep(2 * HOUR);
    await step('beside', ({ key }) => effect('beside', key));
    return {};
  };
  return new StateGraph(State)
    .addNode('told', told)
    .addNode('beside', beside)
    .addEdge(START, 'told')
    .addEdge(START, 'beside')
    .addEdge('told', END)
    .addEdge('beside', END);
}

/** As a worker that is restarted; its clock is where the run's next hour is. */
async function live({ db, durable, effect }: Process, id: string): Promise<readonly string[]> {
  let now = Date.UTC(2026, 0, 2);
  const app = durable(waiting(effect), { db, now: () => now });
  const isKnown = internalsOf(app).store.threads.get(id) !== null;
  let { until } = await app.run(id, isKnown ? undefined : {});
  const paid = { by: { kind: 'policy', id: 'bank' }, signalId: 'event-1' } as const;
  for (let looks = 0; looks < 20; looks += 1) {
    await app.signal(id, 'paid', { amount: 7 }, paid);
    const { driven, refused } = await app.runDue();
    if (refused.length > 0) throw refused[0]?.error;
    const [ran] = driven;
    if (ran?.status === 'completed') return ran.values?.log ?? [];
    const left = await app.run(id);
    if (left.status === 'completed') return left.values?.log ?? [];
    ({ until } = left);
    now = until ?? now + HOUR;
  }
  throw new Error('The run does not end.');
}

/** What the file says of the waits of a run: none was ended twice, nothing was taken twice. */
function waitsIn(db: Database, id: string) {
  const count = (name: string): unknown =>
    db.prepare('SELECT count(*) FROM events WHERE thread_id = ? AND name = ?').pluck().get(id, name);
  const states = db
    .prepare('SELECT state, count(*) FROM waits WHERE thread_id = ? GROUP BY state ORDER BY state')
    .raw()
    .all(id);
  const signals = db
    .prepare("SELECT count(*), count(consumed_at) FROM signals WHERE thread_id = ? AND kind = 'message'")
    .raw()
    .get(id);
  return {
    states,
    signals,
    events: [count('TIMER_FIRED'), count('SIGNAL_RECEIVED'), count('SIGNAL_TAKEN')],
  };
}

export const waits: Scenario = {
  what: 'a run that sleeps and waits',
  deaths: { atWrites: 3, byKill: 1 },
  start: (process) => (run) => live(process, run),
  expected: () => ({
    outcome: ['asleep', 'awake', 'paid 7', 'nobody came'],
    inFile: {
      states: [
        ['due', 3],
        ['met', 1],
      ],
      signals: [1, 1],
      events: [3, 1, 1],
    },
    outside: ['asleep', 'awake', 'beside'],
  }),
  inFile: ({ db }, run) => waitsIn(db, run),
  outside: onceForEachKey,
};
