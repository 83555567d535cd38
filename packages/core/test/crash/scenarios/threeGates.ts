import { interrupt } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { ada, repeating, twoSteps } from '../../../src/engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../../src/engine/file/appInternals.ts';
import { openQuestions } from '../../../src/engine/saver/openQuestions.ts';
import { SqliteSaver } from '../../../src/engine/saver/SqliteSaver.ts';
import type { Live, Process, Scenario } from './Scenario.ts';

/** Three questions of three kinds before the end: a failure gate, a declared gate, a bare interrupt(). */
const asking = ({ db, durable }: Process) =>
  durable(
    twoSteps(
      () => repeating({ log: ['first'] }, 1),
      () => ({ log: ['second'], answer: interrupt('announce?') }),
    ),
    { db, gates: { second: ({ log }) => log } },
  );

type App = ReturnType<typeof asking>;

const ANSWERS = {
  task_failure: { action: 'retry' },
  node_gate: { approved: true },
  interrupt: { value: true },
} as const;

/** What a waiting run's checkpoint asks and its open sessions do not, and the other way round. */
async function unfitIn(db: Database, app: App, run: string): Promise<readonly string[]> {
  const tuple = await new SqliteSaver(db).getTuple({ configurable: { thread_id: run } });
  const asked = tuple === undefined ? [] : openQuestions(tuple);
  const interrupts = new Set(asked.map(({ interruptId }) => interruptId));
  const open = internalsOf(app).store.sessions.listOpen(run);
  const carried = new Set(open.map(({ interruptId }) => interruptId));
  return [
    ...open
      .filter(({ interruptId }) => !interrupts.has(interruptId ?? ''))
      .map(({ id }) => `gate without interrupt: ${id}`),
    ...[...interrupts].filter((id) => !carried.has(id)).map((id) => `interrupt without gate: ${id}`),
  ];
}

/** Drives and answers until the run has ended, and compares whenever it waits. */
function start(process: Process): Live {
  const app = asking(process);
  return async (run) => {
    const unfit: string[] = [];
    for (let drives = 0; drives < 8; drives += 1) {
      const { status, gates, values } = await app.run(run, {});
      if (status !== 'waiting') return { status, log: values?.log, answer: values?.answer, unfit };
      unfit.push(...(await unfitIn(process.db, app, run)));
      for (const gate of gates)
        await app.decide(gate, { ...ANSWERS[gate.kind as keyof typeof ANSWERS], by: ada });
    }
    throw new Error('The run does not end.');
  };
}

/** Runs that asked other than three questions, or took other than one decision for each. */
const unusualRuns = (db: Database): readonly unknown[] =>
  db
    .prepare(
      `SELECT thread_id, count(*) AS questions, sum(status = 'resumed') AS resumed, count(decision_json) AS decided
       FROM hitl_sessions GROUP BY thread_id HAVING questions <> 3 OR resumed <> 3 OR decided <> 3`,
    )
    .all();

export const threeGates: Scenario = {
  what: 'a run with three questions',
  deaths: { atWrites: 5, byKill: 1 },
  throughRuns: true,
  start,
  heir: 'a bystander',
  expected: () => ({
    outcome: { status: 'completed', log: ['first', 'second'], answer: true, unfit: [] },
    inFile: { unusual: [] },
  }),
  inFile: ({ db }) => ({ unusual: unusualRuns(db) }),
};
