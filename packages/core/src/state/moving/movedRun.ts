import { randomBytes } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { backup } from '../../db/backup.ts';
import { createDatabase, openStateCopy } from '../../db/createDatabase.ts';
import { ensureStateFile } from '../../db/ensureStateFile.ts';
import { execute, prepare } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';
import { immediateTransaction } from '../commits/immediateTransaction.ts';
import { doctor } from '../doctor/doctor.ts';
import { HitlSessionStore } from '../gates/HitlSessionStore.ts';
import { RunDirectory } from '../runs/RunDirectory.ts';
import { RunRemover } from '../runs/RunRemover.ts';
import { ChildStore } from '../threads/ChildStore.ts';
import { ThreadStore } from '../threads/ThreadStore.ts';

/** What a state file is known by, whatever its place: a copy and a backup have it too. */
export interface StateFileName {
  /** 64 hex digits. */
  readonly id: string;
  /** How many runs are in it. */
  readonly runs: number;
  /** Nobody has recorded anything in it. */
  readonly isEmpty: boolean;
}

const SELECT_ID = 'SELECT file_id FROM state_file WHERE id = 1';

const INSERT_ID = 'INSERT INTO state_file (id, file_id) VALUES (1, ?) ON CONFLICT DO NOTHING';

/** When each migration came is different in any two files that were made apart. */
const SELECT_HISTORY = 'SELECT version, sha256, applied_at FROM schema_migrations ORDER BY version';

const HAS_TABLE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";

const COUNT_RUNS = 'SELECT count(*) FROM threads';

/** Every table but those that a new file has rows in. */
const SELECT_TABLES = `
  SELECT name FROM sqlite_schema
  WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
    AND name NOT IN ('schema_migrations', 'decision_log_end', 'state_file')`;

/**
 * Reads the name of a state file; one that nobody has named, and one of an earlier release, goes by its history.
 *
 * @param db - An open state file of any release, which may be read-only.
 */
export function readStateFileName(db: Database): StateFileName {
  const read = <T>(sql: string): T | undefined => prepare<[], T>(db, sql).pluck().get();
  const has = (table: string): boolean => prepare<[string]>(db, HAS_TABLE).get(table) !== undefined;
  const named = has('state_file') ? read<string>(SELECT_ID) : undefined;
  const runs = has('threads') ? (read<number>(COUNT_RUNS) ?? 0) : 0;
  const tables = prepare<[], string>(db, SELECT_TABLES).pluck().all();
  const isEmpty = tables.every(
    (name) => read(`SELECT 1 FROM "${name.replaceAll('"', '""')}" LIMIT 1`) === undefined,
  );
  return { id: named ?? sha256Hex(JSON.stringify(prepare(db, SELECT_HISTORY).all())), runs, isEmpty };
}

/** Gives a state file a name at random, unless it has one; returns it. @param db - Open, migrated, to be written. */
export function nameStateFile(db: Database): string {
  immediateTransaction(db, () => prepare<[string]>(db, INSERT_ID).run(randomBytes(32).toString('hex')));
  return readStateFileName(db).id;
}

/**
 * The bytes of a state file that has one run of `db` and no other, which nobody holds there. What is no run's goes along: the
 * lines of the decision log, which are a chain, and the items of the store.
 *
 * @param db - An open, migrated state file. Nothing is written to it; a copy of the whole file is in memory meanwhile.
 * @throws DevsError `THREAD_NOT_FOUND`; `CHILD_NOT_TAKEN` for a run with children, or one that is a child: they share a file;
 *   `STATE_CORRUPT` if what would come of it is damaged.
 */
export function extractRun(db: Database, id: string): Buffer {
  new ThreadStore(db).require(id);
  const children = new ChildStore(db);
  if (children.above(id).length > 0 || children.below(id).length > 0) throw ofFamily(id);
  const copy = openStateCopy(db.serialize());
  try {
    new RunRemover(copy, { children: new ChildStore(copy), sessions: new HitlSessionStore(copy) }).keepOnly(
      id,
    );
    new ThreadStore(copy).evict(id);
    execute(copy, 'VACUUM');
    const { ok, findings } = doctor(copy);
    if (!ok) throw extractDamaged(id, findings[0]?.detail ?? '');
    return copy.serialize();
  } finally {
    copy.close();
  }
}

function ofFamily(id: string): DevsError {
  return new DevsError(
    `Run "${id}" has child runs or is a child run, and these must stay in the file of their parent.`,
    {
      code: 'CHILD_NOT_TAKEN',
      remedy: 'Resume the run where it is.',
      context: { threadId: id },
    },
  );
}

function extractDamaged(id: string, detail: string): DevsError {
  return new DevsError(`The file of run "${id}" would be damaged: ${detail}`, {
    code: 'STATE_CORRUPT',
    remedy: 'Run devs admin doctor, then restore a backup of the state file.',
    context: { threadId: id },
  });
}

/** All that there is of a run which nobody has driven, the row that others refer to first. */
const TABLES = ['threads', 'thread_inputs', 'events'] as const;

const STATUS_OF = 'SELECT status FROM threads WHERE thread_id = ?';

/**
 * Records a run that another state file has, as it is there, in one transaction; false, and nothing is changed, where its id
 * is known.
 *
 * @param from - Open, and of the same release.
 * @throws RangeError for a run that is not in it, or has been driven.
 */
export function adoptRun(id: string, from: Database, to: Database): boolean {
  if (runStatusIn(id, from) !== 'created')
    throw new RangeError(`Expected a file with run "${id}" that no process executes.`);
  return immediateTransaction(to, () => {
    if (runStatusIn(id, to) !== undefined) return false;
    for (const table of TABLES) for (const row of copyRows(table, id, from)) insert(table, row, to);
    return true;
  });
}

const runStatusIn = (id: string, db: Database): string | undefined =>
  prepare<[string], string>(db, STATUS_OF).pluck().get(id);

const copyRows = (table: string, id: string, from: Database): readonly Record<string, unknown>[] =>
  prepare<[string], Record<string, unknown>>(
    from,
    `SELECT * FROM ${table} WHERE thread_id = ? ORDER BY rowid`,
  ).all(id);

/** Positions in the log are each file's own. */
function insert(table: string, row: Readonly<Record<string, unknown>>, to: Database): void {
  const columns = Object.keys(row).filter((name) => name !== 'seq');
  const names = columns.join(', ');
  const values = columns.map((name) => `@${name}`).join(', ');
  prepare<[object]>(to, `INSERT INTO ${table} (${names}) VALUES (${values})`).run(row);
}

/**
 * Makes a copy of an open state file the one at a path. One that is there and has no run is kept beside it: it may have a store,
 * and has the lines of earlier decisions.
 *
 * @returns The path of the one that was there; `null` where there was none.
 * @throws DevsError `CONFIG_INVALID` where the one that is there has runs; those of `backup`.
 */
export function placeStateFile(db: Database, target: string): string | null {
  ensureStateFile(target);
  const kept = statSync(target).size === 0 ? null : keptBeside(target);
  for (const end of ['', '-wal', '-shm']) rmSync(`${target}${end}`, { force: true });
  backup(db, target);
  return kept;
}

/** @throws DevsError `CONFIG_INVALID` where a state file is there that has runs. */
export function assertNoRuns(target: string): void {
  if ((statSync(target, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  const db = createDatabase({ dbPath: target });
  try {
    refuseRuns(db, target);
  } finally {
    db.close();
  }
}

function keptBeside(target: string): string {
  const db = createDatabase({ dbPath: target });
  try {
    refuseRuns(db, target);
    return backup(db, freeName(target)).path;
  } finally {
    db.close();
  }
}

function refuseRuns(db: Database, target: string): void {
  const [first] = new RunDirectory(db).ids();
  if (first === undefined) return;
  throw new DevsError(
    `${target} already contains runs, such as "${first}", and a moved run needs its own file.`,
    {
      code: 'CONFIG_INVALID',
      remedy: 'Use a folder without runs with --dir, or another file with --file.',
      context: { target },
    },
  );
}

function freeName(target: string): string {
  for (let number = 1; ; number += 1) {
    const name = `${target}.${number}`;
    if (statSync(name, { throwIfNoEntry: false }) === undefined) return name;
  }
}
