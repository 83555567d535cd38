import type { Database } from 'better-sqlite3';

const copies = new WeakSet<Database>();

/** Says that a connection's file is a working copy, of one that is kept elsewhere, compressed as a whole. */
export function markWorkingCopy(db: Database): void {
  copies.add(db);
}

/** Whether what is compressed in the file would be compressed twice, and equal parts of two values not be found. */
export function isWorkingCopy(db: Database): boolean {
  return copies.has(db);
}
