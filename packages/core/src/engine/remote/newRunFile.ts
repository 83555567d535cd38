import type { Database } from 'better-sqlite3';
import { createDatabase, openCopy, openStateCopy, openWorkingCopy } from '../../db/createDatabase.ts';
import { SCHEMA_VERSION } from '../../db/ledger.ts';
import { emptyLog } from '../../db/pragmas.ts';
import { RunLabelStore, type RunLabels } from '../../state/labels/RunLabelStore.ts';

let empty: Database | undefined;

/** An empty state file in memory, for a run that is to be: a copy of one, which is made once in a process. */
export function newRunFile(): Database {
  empty ??= createDatabase({ dbPath: ':memory:' });
  return openCopy(empty);
}

/** What a place of run files does with one of them: of which schema it is, how it is made, opened, searched and shortened. */
export const runFile = {
  schema: SCHEMA_VERSION,
  create: newRunFile,
  openBytes: openStateCopy,
  openAt: openWorkingCopy,
  emptyLog,
  labelsOf: (db: Database, id: string): RunLabels => new RunLabelStore(db).of(id),
} as const;
