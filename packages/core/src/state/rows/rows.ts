import { createHash, type Hash, hash as hashText } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { DevsError } from '../../errors/DevsError.ts';

/** What a store takes from outside besides the open state file (law L10). */
export interface StoreOptions {
  /** Milliseconds since the Unix epoch, UTC. Defaults to the system clock. */
  readonly now?: () => number;
  /** A new unique id. Defaults to a random UUID. */
  readonly newId?: () => string;
}

/**
 * Parses JSON that the engine itself stored.
 *
 * @param where - Table and row, for people.
 * @throws DevsError `STATE_CORRUPT` if it is none.
 */
export function parseStored(json: string, where: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new DevsError(`The stored value in ${where} is not valid JSON.`, {
      code: 'STATE_CORRUPT',
      remedy: 'Run devs admin doctor, then restore a backup of the state file.',
      context: { where },
      cause,
    });
  }
}

/** Columns of a table whose SHA-256 is kept in the same row. */
export interface RowSeal {
  /** What a row is, for people. */
  readonly what: string;
  readonly table: string;
  readonly id: string;
  /** Holds the SHA-256; NULL in rows from before there was one. */
  readonly check: string;
  readonly columns: readonly string[];
}

export const SESSION_SEAL: RowSeal = {
  what: 'Session',
  table: 'hitl_sessions',
  id: 'id',
  check: 'row_sha256',
  columns: [
    ...['id', 'task_id', 'graph_state_json', 'suspended_at', 'resumed_at', 'status', 'kind', 'thread_id'],
    ...['interrupt_id', 'question_key', 'checkpoint_id', 'artifact_hash', 'question_json', 'evidence_json'],
    ...['decision_json', 'principal_kind', 'principal_id', 'decided_at'],
  ],
};

export const VOTE_SEAL: RowSeal = {
  what: 'A vote at session',
  table: 'hitl_votes',
  id: 'session_id',
  check: 'row_sha256',
  columns: ['session_id', 'principal_kind', 'principal_id', 'artifact_hash', 'feedback', 'voted_at'],
};

export const SIGNAL_SEAL: RowSeal = {
  what: 'Signal',
  table: 'signals',
  id: 'id',
  check: 'row_sha256',
  columns: ['id', 'thread_id', 'seq', 'kind', 'payload_json', 'created_at'],
};

export const THREAD_SEAL: RowSeal = {
  what: 'Run',
  table: 'threads',
  id: 'thread_id',
  check: 'declared_sha256',
  columns: ['thread_id', 'project_id', 'workspace', 'brief_sha256', 'graph_fingerprint', 'policies_json'],
};

export const STORE_ITEM_SEAL: RowSeal = {
  what: 'Store item',
  table: 'store_items',
  id: 'seq',
  check: 'row_sha256',
  columns: ['namespace', 'born', 'key', 'value_json', 'created_at', 'updated_at'],
};

// Its place in the order is the file's.
export const WAIT_SEAL: RowSeal = {
  what: 'Wait',
  table: 'waits',
  id: 'seq',
  check: 'row_sha256',
  columns: [
    ...['thread_id', 'place', 'name', 'purpose', 'subject', 'interrupt_id', 'due_at', 'state', 'met_by'],
  ],
};

export const CHILD_SEAL: RowSeal = {
  what: 'Child run',
  table: 'child_runs',
  id: 'child_id',
  check: 'row_sha256',
  columns: ['child_id', 'parent_id', 'turn', 'ended_as', 'ended_because', 'end_checkpoint_id'],
};

/** SQL: 1 for a row that is as it was written; throws `STATE_CORRUPT` for another one. Needs {@link useSeals}. */
export const isSound = ({ what, id, check, columns }: RowSeal): string =>
  `assert_row('${what}', ${id}, ${check}, ${columns.join(', ')})`;

/** SQL: whether a row is not as it was written. Needs {@link useSeals}. */
export const isDamaged = ({ check, columns }: RowSeal): string =>
  `${check} IS NOT NULL AND ${check} <> row_sha256_of(${columns.join(', ')})`;

/** SQL: the SHA-256 of a row, or of values in the order of its columns. Needs {@link useSeals}. */
export const sealOf = ({ columns }: RowSeal, values: readonly string[] = columns): string =>
  `row_sha256_of(${values.join(', ')})`;

/** SQL: {@link sealOf} with some columns changed; nothing for a row that has none. Needs {@link useSeals}. */
export const resealed = (seal: RowSeal, changed: Readonly<Record<string, string>>): string =>
  `iif(${seal.check} IS NULL, NULL, ${sealOf(
    seal,
    seal.columns.map((name) => changed[name] ?? name),
  )})`;

/** What a column can hold. */
export type SealedValue = string | number | bigint | Uint8Array | null;

const sealedDatabases = new WeakSet<Database>();

/** Lets statements of a connection use the SQL of this file. */
export function useSeals(db: Database): void {
  if (sealedDatabases.has(db)) return;
  sealedDatabases.add(db);
  const options = { varargs: true, deterministic: true };
  db.function('row_sha256_of', options, (...values: SealedValue[]) => hashOfRow(values));
  db.function('seal_of', options, (...values: SealedValue[]) => sealNumber(values));
  db.function(
    'assert_row',
    options,
    (what: string, id: SealedValue, check: Buffer | null, ...values: SealedValue[]) => {
      if (check !== null && !hashOfRow(values).equals(check)) throw sealBroken(what, id);
      return 1;
    },
  );
}

/** Six bytes of {@link hashOfRow}, for rows that have a SHA-256 of what is in them: damage is no attack. In SQL `seal_of`. */
export const sealNumber = (values: readonly SealedValue[]): number => hashOfRow(values).readUIntBE(0, 6);

/** SHA-256 of values in this order: each with its kind and length, so that no two rows read alike. */
export function hashOfRow(values: readonly SealedValue[]): Buffer {
  let hash: Hash | null = null;
  let text = '';
  for (const value of values) {
    if (typeof value === 'string') text += `t${Buffer.byteLength(value)}:${value}`;
    else if (value instanceof Uint8Array) {
      hash ??= createHash('sha256');
      hash.update(`${text}b${value.length}:`).update(value);
      text = '';
    } else text += `${value === null ? 'null' : Number(value)};`;
  }
  return hash === null ? hashText('sha256', text, 'buffer') : hash.update(text).digest();
}

function sealBroken(what: string, id: SealedValue): DevsError {
  return new DevsError(`${what} "${String(id)}" in the state file was changed after it was written.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Run devs admin doctor, then restore a backup of the state file.',
    context: { id: String(id) },
  });
}
