import { rmSync, statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { backup } from '../../db/backup.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { ensureStateFile } from '../../db/ensureStateFile.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { RunDirectory } from '../runs/RunDirectory.ts';

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
