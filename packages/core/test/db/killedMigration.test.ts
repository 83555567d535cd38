import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { hasLedger } from '../../src/db/ledger.ts';
import { runMigrations } from '../../src/db/migrate.ts';
import { MIGRATIONS } from '../../src/db/migrations/index.ts';
import { schemaDrift } from '../../src/db/ownSchema.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { programFile } from '../support/programFile.ts';
import { tried } from '../support/tried.ts';

const CHILD = new URL('killedMigration.child.ts', import.meta.url);
const AT_ONCE = 3;

/** Of so many statements one is fatal to a process, others in every run; what is left in front of all the rest is copied. */
const EVERY = howMany('DEVS_MIGRATION_DEATHS_EVERY', 17);

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
    const bundle = programFile(CHILD);
    const run = (name: string, fatal: number): Promise<Ended> =>
      runBundle(bundle, [join(dirname(dbPath), name), String(fatal)]);
    const statements = Number((await run('whole.sqlite', 0)).stdout);
    expect(statements).toBeGreaterThan(MIGRATIONS.length * 2);

    const first = randomInt(EVERY);
    const fatal = Array.from({ length: statements }, (_, index) => index + 1).filter(
      (n) => n === 1 || n === statements || n % EVERY === first,
    );
    const left: number[] = [];
    await inTurns(fatal.length, async (index) => {
      const name = `killed-${index}.sqlite`;
      const { signal, stderr } = await run(name, fatal[index] ?? 0);
      expect(signal, stderr).toBe('SIGKILL'); // else the test proves nothing
      left.push(versionLeft(join(dirname(dbPath), name)));
      expect(versionThen(join(dirname(dbPath), name))).toBe(MIGRATIONS.length);
    });
    tried(task, { ways: left.length });
    await annotate(`${left.length} kills, at statements ${fatal.join(', ')}`);
    expect(left).toHaveLength(fatal.length);
    expect(new Set(left)).toEqual(new Set([0])); // COMMIT is the last statement: before it there is the old version.
  });

  test('does so from every earlier version', ({ dbPath, task }) => {
    const all = MIGRATIONS.map((_, count) => leftInFrontOfEachStatement(dbPath, count));
    tried(task, { ways: all.reduce((sum, { statements }) => sum + statements, 0) });
    for (const [count, { statements, paths }] of all.entries()) {
      expect(statements).toBeGreaterThan(MIGRATIONS.length - count);
      for (const path of paths) expect(versionLeft(path)).toBe(count);
      expect(versionThen(paths.at(-1) ?? '')).toBe(MIGRATIONS.length);
    }
  });
});

interface Left {
  readonly statements: number;
  /** Copies of the file, each with other bytes than the one before. */
  readonly paths: readonly string[];
}

/**
 * Migrates a file that has `count` migrations, and copies it in front of each statement: what a copy holds is what a
 * process killed there would have left, because the operating system keeps what was written. Where not a byte has
 * changed since the statement before, it is the same copy.
 */
function leftInFrontOfEachStatement(dbPath: string, count: number): Left {
  const folder = join(dirname(dbPath), String(count));
  mkdirSync(folder);
  const path = join(folder, basename(dbPath));
  const paths: string[] = [];
  let before: readonly Buffer[] = [];
  let statements = 0;
  let counting = false;
  const copy = (): void => {
    if (!counting) return;
    statements += 1;
    const now = ['', '-wal'].map((suffix) => bytesOf(path + suffix));
    if (before.length > 0 && now.every((bytes, index) => before[index]?.equals(bytes))) return;
    before = now;
    const target = join(folder, `copy-${paths.length}.sqlite`);
    for (const [index, suffix] of ['', '-wal'].entries())
      writeFileSync(target + suffix, now[index] ?? Buffer.alloc(0));
    paths.push(target);
  };
  const db = new BetterSqlite3(path, { verbose: copy });
  db.pragma('journal_mode = WAL');
  runMigrations(db, MIGRATIONS.slice(0, count));
  counting = true;
  runMigrations(db, [...MIGRATIONS]); // one by one, where a file has none, too
  counting = false;
  db.close();
  return { statements, paths };
}

/** A file that is not there is as an empty one to SQLite. */
const bytesOf = (path: string): Buffer => (existsSync(path) ? readFileSync(path) : Buffer.alloc(0));
