import { copyFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { loadOrchestratorConfig } from '../../src/config/orchestratorConfig.ts';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { ada } from '../../src/engine/__tests__/ownGraph.ts';
import { EventBus } from '../../src/events/events.ts';
import { aPipeline, driveToTheEnd } from '../../src/orchestration/__tests__/aPipeline.ts';
import { orchestrationApp } from '../../src/orchestration/graph.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { removeRun } from '../../src/surface/PipelineFiles.ts';
import { type Death, DyingFile } from '../support/DyingFile.ts';
import { test } from '../support/fixtures.ts';
import { tried } from '../support/tried.ts';

function open(dbPath: string, death: Death | null) {
  const db = createDatabase({ dbPath });
  db.pragma('synchronous = OFF'); // dying here is closing: what was committed is in the file
  const file = new DyingFile(db, death);
  const app = orchestrationApp(null, { db, events: new EventBus(), config: loadOrchestratorConfig() });
  return { db, file, remove: () => removeRun('shop', { by: ada }, app) };
}

/** The lines of the decision log, whole. */
const decisionsIn = (db: Database): readonly unknown[] =>
  db.prepare('SELECT * FROM hitl_decisions ORDER BY rowid').all();

/** How many rows each table has. */
function rowsIn(db: Database): Readonly<Record<string, number>> {
  const names = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  const counts = names.map((name) => [
    name,
    db.prepare(`SELECT count(*) FROM ${name}`).pluck().get() as number,
  ]);
  return Object.fromEntries(counts) as Readonly<Record<string, number>>;
}

describe('a process that dies at any write while it removes a run', () => {
  test('leaves the run whole, or gone; the next removal ends it, and the decision log stays', async ({
    db,
    dbPath,
    task,
  }) => {
    const { status } = await driveToTheEnd(await aPipeline(db, { tasks: 1 }));
    expect(status).toBe('completed');
    const [decisions, whole] = [decisionsIn(db), rowsIn(db)];
    expect(decisions.length).toBeGreaterThan(1);
    db.pragma('wal_checkpoint(TRUNCATE)');

    const writesToOpen = openAndClose(dbPath).writes;
    const removed = new Set<boolean>();
    let deaths = 0;
    // Dying before a write is dying after the one before it.
    for (let write = 1; ; write += 1) {
      const path = `${dbPath}-${write}`;
      copyFileSync(dbPath, path);
      if (await survives({ write: write + writesToOpen, side: 'before' }, path)) break;
      deaths += 1;
      const next = open(path, null);
      const isGone = next.db.prepare('SELECT count(*) FROM threads').pluck().get() === 0;
      removed.add(isGone);
      if (!isGone) {
        expect([write, rowsIn(next.db)]).toEqual([write, whole]);
        next.db.prepare('UPDATE threads SET lease_owner = NULL').run();
        await next.remove();
      }
      expect(decisionsIn(next.db)).toEqual(decisions);
      expect(rowsIn(next.db)).toMatchObject({ threads: 0, hitl_sessions: 0, agent_steps: 0, checkpoints: 0 });
      if (write === 1) expect(doctor(next.db)).toMatchObject({ ok: true, findings: [] });
      next.db.close();
    }
    tried(task, { ways: deaths });
    expect(deaths).toBeGreaterThan(10);
    expect(removed).toEqual(new Set([false, true]));
  });
});

/** How much opening alone writes. */
function openAndClose(dbPath: string): DyingFile {
  const { db, file } = open(dbPath, null);
  db.close();
  return file;
}

/** Whether a removal ends before its death. */
async function survives(death: Death, path: string): Promise<boolean> {
  const dying = open(path, death);
  const survived = await dying.remove().then(
    () => true,
    () => false,
  );
  dying.db.close();
  return survived;
}
