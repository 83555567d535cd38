import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { HITL_SESSION_KINDS } from '../gates/hitlSession.ts';
import { SIGNAL_KINDS } from '../threads/SignalStore.ts';
import { THREAD_STATUSES } from '../threads/threadRecords.ts';
import { error, type ValueFinding } from './finding.ts';

const SELECT_RUNS = `
  SELECT thread_id FROM threads WHERE status NOT IN (SELECT value FROM json_each(?)) ORDER BY rowid ASC`;

const SELECT_SIGNALS = `
  SELECT id FROM signals WHERE kind NOT IN (SELECT value FROM json_each(?)) ORDER BY rowid ASC`;

const SELECT_SESSIONS = `
  SELECT id FROM hitl_sessions WHERE kind NOT IN (SELECT value FROM json_each(?)) ORDER BY rowid ASC`;

/** Rows whose status or kind this engine does not know: the code checks what no CHECK does. */
export function unknownWords(db: Database): readonly ValueFinding[] {
  const idsOf = (sql: string, known: readonly string[]): readonly string[] =>
    prepare<[string], string>(db, sql).pluck().all(JSON.stringify(known));
  return [
    ...idsOf(SELECT_RUNS, THREAD_STATUSES).map((id) =>
      error('VALUE_DAMAGED', 'threads', `Run ${id} has an unknown status.`),
    ),
    ...idsOf(SELECT_SESSIONS, HITL_SESSION_KINDS).map((id) =>
      error('VALUE_DAMAGED', 'hitl_sessions', `Session ${id} has an unknown kind.`),
    ),
    ...idsOf(SELECT_SIGNALS, SIGNAL_KINDS).map((id) =>
      error('VALUE_DAMAGED', 'signals', `Signal ${id} has an unknown kind.`),
    ),
  ];
}
