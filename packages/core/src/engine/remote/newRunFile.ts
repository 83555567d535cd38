import type { Database } from 'better-sqlite3';
import { createDatabase, openCopy, openStateCopy, openWorkingCopy } from '../../db/createDatabase.ts';
import { SCHEMA_VERSION } from '../../db/ledger.ts';
import { emptyLog } from '../../db/pragmas.ts';
import { RunLabelStore, type RunLabels } from '../../state/labels/RunLabelStore.ts';
import { markGivenUp } from '../runs/givenUp.ts';
import { beginRunFile, parseStartedRun } from '../start/startedRun.ts';

let empty: Database | undefined;

/** An empty state file in memory, for a run that is to be: a copy of one, which is made once in a process. */
export function newRunFile(): Database {
  empty ??= createDatabase({ dbPath: ':memory:' });
  return openCopy(empty);
}

/** For a storage of run files: the schema of a file, and how to make, begin, open, search and shorten one. */
export const runFile = {
  schema: SCHEMA_VERSION,
  create: newRunFile,
  begin: beginRunFile,
  markGivenUp,
  parseStart: parseStartedRun,
  openBytes: openStateCopy,
  openAt: openWorkingCopy,
  emptyLog,
  labelsOf: (db: Database, id: string): RunLabels => new RunLabelStore(db).of(id),
} as const;
