import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase, markPrepared } from '../../src/db/createDatabase.ts';
import { applyPragmas } from '../../src/db/pragmas.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';
import { CheckpointPersister } from '../../src/state/CheckpointPersister.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import type { TurnType } from '../../src/state/types.ts';
import { test } from '../support/fixtures.ts';
import { tried } from '../support/tried.ts';
import { CONFIG, checkpointAt, METADATA, writesAt } from './ackedCheckpoints.ts';

const SUPER_STEPS = 3;

/** The file in front of a statement, and how many calls were acknowledged by then. */
interface Copy {
  readonly path: string;
  readonly acknowledged: number;
}

/** Everything a next process finds in a file. */
async function contentOf(path: string): Promise<string> {
  const db = createDatabase({ dbPath: path });
  const tuple = await new SqliteSaver(db).getTuple(CONFIG);
  const turns = new CheckpointPersister(db).loadForTask('task');
  expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
  db.close();
  return JSON.stringify([tuple?.checkpoint, tuple?.pendingWrites, turns]);
}

/** The calls of a super-step, in the order the engine makes them. */
function callsOf(at: number, saver: SqliteSaver, journal: CheckpointPersister): readonly (() => unknown)[] {
  const { checkpoint, newVersions } = checkpointAt(at);
  const configAt = (n: number) => ({
    configurable: { ...CONFIG.configurable, checkpoint_id: checkpointAt(n).checkpoint.id },
  });
  const turn = (turnType: TurnType) => () =>
    journal.save({
      ...{ id: `${at} ${turnType}`, graphId: 'run', nodeName: 'n', turnType, taskId: 'task' },
      state: checkpoint.channel_values,
      createdAt: new Date(0),
    });
  return [
    turn('Thought'),
    turn('Action'),
    () => saver.put(at === 1 ? CONFIG : configAt(at - 1), checkpoint, METADATA, newVersions),
    () => saver.putWrites(configAt(at), writesAt(at), `task-${at}`),
  ];
}

describe('a process killed in front of any statement of the saver and the journal', () => {
  test('leaves what was acknowledged, or one call more, and never a part of one', {
    timeout: 60_000,
  }, async ({ annotate, dbPath, task }) => {
    createDatabase({ dbPath }).close();
    const folder = join(dirname(dbPath), 'copies');
    mkdirSync(folder);
    const copies: Copy[] = [];
    let acknowledged = 0;
    // What the operating system has been given is what a killed process leaves.
    const copy = (name: string): string => {
      const path = join(folder, `${name}.sqlite`);
      for (const suffix of ['', '-wal']) {
        if (existsSync(dbPath + suffix)) copyFileSync(dbPath + suffix, path + suffix);
      }
      return path;
    };
    const db = new BetterSqlite3(dbPath, {
      verbose: () => copies.push({ path: copy(`statement-${copies.length}`), acknowledged }),
    });
    applyPragmas(db, { synchronous: 'full', busyTimeoutMs: 5000 });
    markPrepared(db);
    const [saver, journal] = [new SqliteSaver(db), new CheckpointPersister(db)];
    const contents = [await contentOf(copy('acknowledged-0'))];
    for (let at = 1; at <= SUPER_STEPS; at += 1) {
      for (const call of callsOf(at, saver, journal)) {
        await call();
        acknowledged += 1;
        contents.push(await contentOf(copy(`acknowledged-${acknowledged}`)));
      }
    }
    db.close();

    tried(task, { ways: copies.length });
    expect(copies.length).toBeGreaterThan(SUPER_STEPS * 4 * 4);
    for (const { path, acknowledged: before } of copies) {
      const found = contents.indexOf(await contentOf(path));
      expect([before, before + 1], path).toContain(found);
    }
    await annotate(`${copies.length} kills`);
  });
});
