import type { Database } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';
import { immediately } from './immediately.ts';

/** All that there is of a run which nobody has driven, the row that others refer to first. */
const TABLES = ['threads', 'thread_inputs', 'events'] as const;

const HAS_RUN = `SELECT 1 FROM threads WHERE thread_id = ? AND (status = 'created' OR @any)`;

/**
 * Records a run that another state file has, as it is there, in one transaction; false, and nothing is changed, where its id
 * is known.
 *
 * @param from - Open, and of the same release.
 * @throws RangeError for a run that is not in it, or has been driven.
 */
export function adoptRun(id: string, from: Database, to: Database): boolean {
  if (!hasRun(from, id, false)) throw new RangeError(`Expected a file with run "${id}", not driven.`);
  return immediately(to, () => {
    if (hasRun(to, id, true)) return false;
    for (const table of TABLES) for (const row of rowsOf(table, id, from)) insert(table, row, to);
    return true;
  });
}

const hasRun = (db: Database, id: string, any: boolean): boolean =>
  prepare<[string, object]>(db, HAS_RUN).get(id, { any: Number(any) }) !== undefined;

const rowsOf = (table: string, id: string, from: Database): readonly Record<string, unknown>[] =>
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
