import type { Database } from 'better-sqlite3';
import { createDatabase, openCopy } from '../../db/createDatabase.ts';

let empty: Database | undefined;

/** An empty state file in memory, for a run that is to be: a copy of one, which is made once in a process. */
export function newRunFile(): Database {
  empty ??= createDatabase({ dbPath: ':memory:' });
  return openCopy(empty);
}
