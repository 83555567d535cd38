import type { Database } from 'better-sqlite3';
import { openStateCopy } from '../../db/createDatabase.ts';
import { execute, prepare } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { immediateTransaction } from '../commits/immediateTransaction.ts';
import { doctor } from '../doctor/doctor.ts';
import { HitlSessionStore } from '../gates/HitlSessionStore.ts';
import { RunLabelStore } from '../labels/RunLabelStore.ts';
import { RunRemover } from '../runs/RunRemover.ts';
import { ChildStore } from '../threads/ChildStore.ts';
import { ThreadStore } from '../threads/ThreadStore.ts';
import { AWAITS_INPUT } from '../threads/threadRecords.ts';

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

const STATUS_OF = `
  SELECT iif(status = 'paused' AND reason = '${AWAITS_INPUT}', 'created', status) FROM threads WHERE thread_id = ?`;

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
    new RunLabelStore(to).insert(id, new RunLabelStore(from).of(id));
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
