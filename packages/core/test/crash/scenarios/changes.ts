import type { Database } from 'better-sqlite3';
import { ada, twoSteps } from '../../../src/engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../../src/engine/file/appInternals.ts';
import { step } from '../../../src/engine/node/step.ts';
import { doctor } from '../../../src/state/doctor/doctor.ts';
import type { Process, Scenario } from './Scenario.ts';

/** The runs that are changed from outside: `waits` at its gate, and `e0` to `e2`, which have ended. */
function changed({ db, durable }: Process) {
  const first = async () => ({ log: [await step('call', () => 'called')] });
  return durable(twoSteps(first), { db, gates: { second: ({ log }) => log }, now: () => 1000 });
}

type App = ReturnType<typeof changed>;

const ENDED = ['e0', 'e1', 'e2'];

async function prepare(process: Process): Promise<void> {
  const app = changed(process);
  for (const id of [...ENDED, 'waits']) await app.run(id, { log: [id] });
  for (const id of ENDED) {
    for (const gate of await app.gates(id)) await app.decide(gate, { approved: true, by: ada });
    await app.run(id);
  }
}

const rowsNaming = (db: Database, id: string): number =>
  ['checkpoints', 'checkpoint_blobs', 'agent_steps', 'hitl_sessions', 'events', 'signals', 'thread_inputs']
    .map((table) =>
      db.prepare<[string], number>(`SELECT count(*) FROM ${table} WHERE thread_id = ?`).pluck().get(id),
    )
    .reduce<number>((sum, count) => sum + (count ?? 0), 0);

const idsIn = async (app: App): Promise<readonly string[]> =>
  (await app.list()).runs.map(({ id }) => id).sort();

/** Whether the change was made, the file is sound and all other runs are as before. */
async function standing(process: Process, isDone: (app: App) => unknown): Promise<unknown> {
  const app = changed(process);
  const { ok, findings } = doctor(process.db);
  const ids = await idsIn(app);
  const left = ENDED.filter((id) => ids.includes(id));
  const logs = await Promise.all(left.map(async (id) => (await app.getState(id)).values.log));
  const whole = logs.every((log, at) => log.join() === `${left[at]},called,second`);
  return { ok, findings, whole, isDone: await isDone(app) };
}

const sound = (isDone: boolean): object => ({ ok: true, findings: [], whole: true, isDone });
const MADE_OR_NOT = [sound(false), sound(true)];

/** A change that a person makes to a run from outside. */
interface Change {
  readonly what: string;
  readonly make: (app: App) => Promise<unknown>;
  readonly isMade: (app: App) => unknown;
  /** Reads the result of the change. */
  readonly made: (app: App, db: Database) => Promise<unknown>;
  readonly expected: unknown;
}

const CHANGES: readonly Change[] = [
  {
    what: 'a fork',
    make: (app) => app.fork('e0', { as: 'new', by: ada }),
    isMade: async (app) => (await idsIn(app)).includes('new'),
    made: async (app) => {
      const { status, values } = await app.run('new');
      const forks = internalsOf(app).store.log.listNamed('new', 'RUN_FORKED').length;
      return { status, log: values?.log, forks };
    },
    expected: { status: 'completed', log: ['e0', 'called', 'second'], forks: 1 },
  },
  {
    what: 'an update of its state',
    make: (app) => app.updateState('waits', { log: ['by hand'] }, { by: ada }),
    isMade: async (app) => {
      const updates = internalsOf(app).store.log.listNamed('waits', 'STATE_UPDATED').length;
      const gates = (await app.gates('waits')).length;
      return (
        [updates, gates].join() === '1,0' || ([updates, gates].join() === '0,1' ? false : { updates, gates })
      );
    },
    made: async (app) => (await app.run('waits')).gates.map(({ artifact }) => artifact),
    expected: [['waits', 'called', 'by hand']],
  },
  {
    what: 'a deletion',
    make: (app) => app.delete('e0', { by: ada }),
    isMade: async (app) => !(await idsIn(app)).includes('e0'),
    made: async (app, db) => ({ ids: await idsIn(app), rows: rowsNaming(db, 'e0') }),
    expected: { ids: ['e1', 'e2', 'waits'], rows: 0 },
  },
  {
    what: 'a deletion of what is old',
    make: (app) => app.deleteOlderThan({ endedBefore: new Date(2000), by: ada }),
    isMade: async (app) => !(await idsIn(app)).some((id) => ENDED.includes(id)),
    made: async (app, db) => ({ ids: await idsIn(app), rows: ENDED.map((id) => rowsNaming(db, id)) }),
    expected: { ids: ['waits'], rows: [0, 0, 0] },
  },
];

/** A change is made, or it is not; one that is not can be made once more. */
const scenarioOf = ({ what, make, isMade, made, expected }: Change): Scenario => ({
  what: `${what}, made from outside`,
  deaths: { atWrites: 4, sides: ['before'], byKill: 1 },
  prepare,
  start: (process) => async () => {
    const app = changed(process);
    if ((await isMade(app)) === false) await make(app);
  },
  expected: () => ({ outcome: undefined, inFile: expected, between: MADE_OR_NOT }),
  between: (process) => standing(process, isMade),
  inFile: (process) => made(changed(process), process.db),
});

export const changes: readonly Scenario[] = CHANGES.map(scenarioOf);
