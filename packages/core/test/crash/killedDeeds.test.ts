import { copyFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { ada } from '../../src/engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../src/engine/appInternals.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { type Death, DyingFile } from '../gates/DyingFile.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { longer } from '../support/longer.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { DEEDS, type Deed, deedsApp, ENDED, prepare } from './deeds.ts';

const CHILD = 'packages/core/test/crash/killedDeeds.child.ts';

/** At how many of its statements a process is killed, evenly from the last on. */
const KILLS = howMany('DEVS_KILLED_DEEDS', 1);
/** At how many of its writes one dies that is this process, the connection closed. */
const DEATHS = howMany('DEVS_DEATHS_OF_DEEDS', 4);

const ALL = Object.keys(DEEDS) as readonly Deed[];

/** A state file in which nothing is being done. */
async function prepared(dbPath: string): Promise<void> {
  const db = openFast(dbPath);
  await prepare(deedsApp(db));
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

/** Whether the deed was done. Throws where it was done in part, and where it cannot be done once more. */
async function isDone(deed: Deed, db: Database): Promise<boolean> {
  const app = deedsApp(db);
  const ids = (await app.list()).runs.map(({ id }) => id);
  expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
  const left = ENDED.filter((id) => ids.includes(id));
  for (const id of left) expect((await app.getState(id)).values.log).toEqual([id, 'called', 'second']);
  switch (deed) {
    case 'fork': {
      const done = ids.includes('new');
      if (!done) await DEEDS.fork(app);
      expect(await app.run('new')).toMatchObject({
        status: 'completed',
        values: { log: ['e0', 'called', 'second'] },
      });
      expect(internalsOf(app).store.log.listNamed('new', 'RUN_FORKED')).toHaveLength(1);
      return done;
    }
    case 'update': {
      const updates = internalsOf(app).store.log.listNamed('waits', 'STATE_UPDATED').length;
      expect((await app.gates('waits')).length).toBe(updates === 0 ? 1 : 0);
      if (updates === 0) await DEEDS.update(app);
      const { gates } = await app.run('waits');
      expect(gates).toMatchObject([{ artifact: ['waits', 'called', 'by hand'] }]);
      return updates === 1;
    }
    case 'delete': {
      const done = !left.includes('e0');
      if (!done) await app.delete('e0', { by: ada });
      expect((await app.list()).runs.map(({ id }) => id).sort()).toEqual(['e1', 'e2', 'waits']);
      expect(rowsNaming(db, 'e0')).toBe(0);
      return done;
    }
    case 'expire': {
      await DEEDS.expire(app);
      expect((await app.list()).runs.map(({ id }) => id)).toEqual(['waits']);
      expect(ENDED.map((id) => rowsNaming(db, id))).toEqual([0, 0, 0]);
      return left.length === 0;
    }
  }
}

const rowsNaming = (db: Database, id: string): number =>
  ['checkpoints', 'checkpoint_blobs', 'agent_steps', 'hitl_sessions', 'events', 'signals', 'thread_inputs']
    .map((table) =>
      db.prepare<[string], number>(`SELECT count(*) FROM ${table} WHERE thread_id = ?`).pluck().get(id),
    )
    .reduce<number>((sum, count) => sum + (count ?? 0), 0);

describe('a process that dies while a human changes a run from outside', () => {
  test.for(ALL)(
    'at any write: %s is done, or it is not',
    {
      timeout: longer(60_000, DEATHS / 4),
    },
    async (deed, { dbPath }) => {
      await prepared(dbPath);
      const total = await writesOf(deed, copyOf(dbPath, 'whole'), null);
      const done = new Set<boolean>();
      for (const write of points(total, DEATHS)) {
        const path = copyOf(dbPath, `at-${write}`);
        await writesOf(deed, path, { write, side: 'before' });
        const db = openFast(path);
        db.prepare('UPDATE threads SET lease_owner = NULL').run(); // a process that died is gone, this one is not
        done.add(await isDone(deed, db));
        db.close();
      }
      expect(done.has(false)).toBe(true);
    },
  );

  test('by kill -9: what was committed is there, and the rest is not', {
    timeout: longer(60_000, KILLS),
  }, async ({ dbPath }) => {
    await prepared(dbPath);
    for (const deed of ALL) {
      const { stdout, stderr } = await spawnProgram(CHILD, [copyOf(dbPath, deed), deed]).finished;
      expect(stderr).toBe('');
      for (const at of points(Number(stdout), KILLS)) {
        const path = copyOf(dbPath, `${deed}-${at}`);
        const died = await spawnProgram(CHILD, [path, deed, String(at)]).finished;
        expect(died).toMatchObject({ signal: 'SIGKILL', stderr: '' });
        const db = openFast(path);
        await isDone(deed, db);
        db.close();
      }
    }
  });
});

/** Some of the statements from 1 to `total`, the last one among them. */
function points(total: number, wanted: number): readonly number[] {
  expect(total).toBeGreaterThanOrEqual(10);
  const count = Math.min(wanted, total);
  return Array.from({ length: count }, (_, at) => total - Math.floor((at * total) / count));
}

function copyOf(dbPath: string, name: string): string {
  const path = `${dbPath}-${name}`;
  copyFileSync(dbPath, path);
  return path;
}

function openFast(dbPath: string): Database {
  const db = createDatabase({ dbPath });
  db.pragma('synchronous = OFF'); // nothing here loses its power
  return db;
}

/** Does a deed until its death, or to its end, and tells how many writes there were. */
async function writesOf(deed: Deed, dbPath: string, death: Death | null): Promise<number> {
  const db = openFast(dbPath);
  const file = new DyingFile(db, death);
  await DEEDS[deed](deedsApp(db)).catch((error: unknown) => {
    if (death === null) throw error;
  });
  db.close();
  return file.writes;
}
