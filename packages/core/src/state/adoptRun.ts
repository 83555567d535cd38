import type { Database } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';
import { immediateTransaction } from './immediateTransaction.ts';

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
