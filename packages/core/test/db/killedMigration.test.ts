import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { hasLedger, runMigrations } from '../../src/db/migrate.ts';
import { MIGRATIONS } from '../../src/db/migrations/index.ts';
import { schemaDrift } from '../../src/db/schemaDrift.ts';
import { bundlePrograms } from '../support/bundlePrograms.ts';
import { test } from '../support/fixtures.ts';
import { tried } from '../support/tried.ts';

const CHILD = new URL('killedMigration.child.ts', import.meta.url);
const AT_ONCE = 3;

/** How many migrations a file has; its schema must be exactly what those make. */
function versionOf(db: Database): number {
  if (!hasLedger(db)) {
    expect(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()).toBe(0);
    return 0;
  }
  expect(schemaDrift(db)).toEqual([]);
  return db.prepare<[], number>('SELECT count(*) FROM schema_migrations').pluck().get() ?? 0;
}

/** The version of the file that a killed process left. */
function versionLeft(dbPath: string): number {
  const raw = new BetterSqlite3(dbPath);
  expect(raw.pragma('integrity_check', { simple: true })).toBe('ok');
  const left = versionOf(raw);
  raw.close();
  return left;
}

/** The version that the next process makes of it. */
function versionThen(dbPath: string): number {
  const db = createDatabase({ dbPath });
  const then = versionOf(db);
  db.close();
  return then;
}

interface Ended {
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

function runBundle(bundle: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [bundle, ...args], (error, stdout, stderr) =>
      resolve({ signal: error?.signal ?? null, stdout, stderr }),
    );
  });
}

async function inTurns(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

describe('a process killed while it migrates', () => {
  test('leaves the old version or the new one, whichever statement it was at', { timeout: 120_000 }, async ({
    annotate,
    dbPath,
    task,
  }) => {
    const [bundle = ''] = await bundlePrograms([CHILD], dirname(dbPath));
    const run = (name: string, fatal: number): Promise<Ended> =>
      runBundle(bundle, [join(dirname(dbPath), name), String(fatal)]);
    const statements = Number((await run('whole.sqlite', 0)).stdout);
    expect(statements).toBeGreaterThan(MIGRATIONS.length * 2);

    const left: number[] = [];
    await inTurns(statements, async (n) => {
      const name = `killed-${n + 1}.sqlite`;
      const { signal, stderr } = await run(name, n + 1);
      expect(signal, stderr).toBe('SIGKILL'); // else the test proves nothing
      left.push(versionLeft(join(dirname(dbPath), name)));
      expect(versionThen(join(dirname(dbPath), name))).toBe(MIGRATIONS.length);
    });
    tried(task, { ways: left.length });
    await annotate(`${left.length} kills`);
    expect(left).toHaveLength(statements);
    expect(new Set(left)).toEqual(new Set([0])); // COMMIT is the last statement: before it there is the old version.
  });

  test('does so from every earlier version', ({ dbPath, task }) => {
    const copies = MIGRATIONS.map((_, count) => copiesInFrontOfEachStatement(dbPath, count));
    tried(task, { ways: copies.flat().length });
    for (const [count, paths] of copies.entries()) {
      expect(paths.length).toBeGreaterThan(MIGRATIONS.length - count);
      for (const path of paths) expect(versionLeft(path)).toBe(count);
      expect(versionThen(paths.at(-1) ?? '')).toBe(MIGRATIONS.length);
    }
  });
});

/**
 * Migrates a file that has `count` migrations, and copies it in front of each statement: what a copy holds is what a
 * process killed there would have left, because the operating system keeps what was written.
 */
function copiesInFrontOfEachStatement(dbPath: string, count: number): readonly string[] {
  const folder = join(dirname(dbPath), String(count));
  mkdirSync(folder);
  const path = join(folder, basename(dbPath));
  const copies: string[] = [];
  let counting = false;
  const copy = (): void => {
    if (!counting) return;
    const target = join(folder, `copy-${copies.length}.sqlite`);
    for (const suffix of ['', '-wal']) {
      if (existsSync(path + suffix)) copyFileSync(path + suffix, target + suffix);
    }
    copies.push(target);
  };
  const db = new BetterSqlite3(path, { verbose: copy });
  db.pragma('journal_mode = WAL');
  runMigrations(db, MIGRATIONS.slice(0, count));
  counting = true;
  runMigrations(db);
  counting = false;
  db.close();
  return copies;
}
