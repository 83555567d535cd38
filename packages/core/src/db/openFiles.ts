import type { Database } from 'better-sqlite3';
import { statOf } from './fileStat.ts';

// A process in which a file was opened with a key has two copies of SQLite. Locks of a file belong to the process: whichever
// copy closes the file drops the locks of the other, and both would write at once. So a file is open through one of them.

/** Which copy of SQLite a connection is of. */
export type SqliteCopy = 'plain' | 'cipher';

interface OpenFile {
  /** Device and inode. */
  readonly file: string;
  readonly driver: SqliteCopy;
  readonly db: WeakRef<Database>;
}

let connections: readonly OpenFile[] = [];

/** Records which file a connection has open. */
export function recordOpen(db: Database, path: string, driver: SqliteCopy): void {
  const file = openFileAt(path);
  if (file === null) return;
  const others = connections.filter((each) => each.db.deref()?.open === true);
  connections = [...others, { file, driver, db: new WeakRef(db) }];
}

/** Which copy of SQLite has the file at a path open in this process; `null` where none has. */
export function driverHolding(path: string): SqliteCopy | null {
  const file = openFileAt(path);
  const holder = connections.find((each) => each.file === file && each.db.deref()?.open === true);
  return holder?.driver ?? null;
}

function openFileAt(path: string): string | null {
  const found = statOf(path);
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
