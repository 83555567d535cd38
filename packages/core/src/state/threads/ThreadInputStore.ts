import type { Database, Statement } from 'better-sqlite3';
import { readKept } from '../../db/keptReads.ts';
import { prepare } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { equalBytes, hashBytes, plainBytes } from '../blobs/BlobStore.ts';
import type { TypedBytes } from '../checkpoints/checkpointRecords.ts';
import { type StoreOptions, sealNumber, useSeals } from '../rows/rows.ts';
import type { ThreadStatus } from './threadRecords.ts';

/** One input of a run, and what became of it. */
export interface InputTurn {
  /** From 1. */
  readonly turn: number;
  /** What its caller calls it; `null` where a run was started without a name for its turn. */
  readonly key: string | null;
  /** The serializer's name of the form of what was given. */
  readonly type: string;
  /** Whether a checkpoint holds its input. Not said of a first turn: it is taken up where the run has a checkpoint. */
  readonly isTaken: boolean;
  /** `null` for the latest turn: it stands as the run does. */
  readonly end: TurnEnd | null;
}

/** Where a run stood when its next turn began. */
export interface TurnEnd {
  readonly status: ThreadStatus;
  readonly reason: string | null;
  /** `null` where the turn ended before the run had a checkpoint. */
  readonly checkpointId: string | null;
}

interface InputTurnRow {
  readonly turn: number;
  readonly key: string | null;
  readonly type: string;
  readonly isTaken: 0 | 1;
  readonly endedAs: ThreadStatus | null;
  readonly endedBecause: string | null;
  readonly endCheckpointId: string | null;
}

interface InputRow {
  readonly turn: number;
  readonly turnKey: string;
  readonly type: string;
  /** Base64 in rows of an older engine, which have no SHA-256. */
  readonly value: Buffer | string;
  readonly sha256: Buffer | null;
  /** `null` in rows of before. */
  readonly seal: number | null;
}

const LATEST = '(SELECT max(turn) FROM thread_inputs WHERE thread_id = @threadId)';

const COLUMNS = `
  turn, nullif(turn_key, '') AS key, type, taken_at IS NOT NULL AS isTaken, ended_as AS endedAs, ended_because AS endedBecause,
  end_checkpoint_id AS endCheckpointId`;

const SELECT_ALL = `SELECT ${COLUMNS}, begun_at AS begunAt FROM thread_inputs WHERE thread_id = ? ORDER BY turn`;

const SELECT_LATEST = `SELECT ${COLUMNS} FROM thread_inputs WHERE thread_id = ? ORDER BY turn DESC LIMIT 1`;

const SELECT_BEFORE = `SELECT ${COLUMNS} FROM thread_inputs WHERE thread_id = ? ORDER BY turn DESC LIMIT 1 OFFSET 1`;

const SELECT_BY_KEY = `SELECT ${COLUMNS} FROM thread_inputs WHERE thread_id = ? AND turn_key = coalesce(?, '')`;

const SELECT_INPUT = `
  SELECT turn, turn_key AS turnKey, type, value, sha256, seal FROM thread_inputs
  WHERE thread_id = @threadId AND turn = coalesce(@turn, ${LATEST})`;

const INSERT = `
  INSERT INTO thread_inputs (thread_id, turn, turn_key, type, value, sha256, begun_at, driven_before, seal)
  SELECT @threadId, next.turn, coalesce(@key, ''), @type, @value, @sha256, @now,
         (SELECT coalesce(sum(ms), 0) FROM driven_time WHERE thread_id = @threadId),
         seal_of(@threadId, next.turn, coalesce(@key, ''), @type, @sha256)
  FROM (SELECT coalesce(${LATEST}, 0) + 1 AS turn) AS next
  WHERE true ON CONFLICT DO NOTHING`;

const UPDATE = `
  UPDATE thread_inputs SET type = @type, value = @value, sha256 = @sha256,
                           seal = seal_of(thread_id, turn, turn_key, @type, @sha256)
  WHERE thread_id = @threadId AND turn = ${LATEST}`;

// Of a first turn nothing is written: its row may be large, and a run that has a checkpoint has taken it up.
const MARK_TAKEN = `
  UPDATE thread_inputs SET taken_at = @now
  WHERE thread_id = @threadId AND turn > 1 AND turn = ${LATEST} AND taken_at IS NULL`;

const END = `
  UPDATE thread_inputs SET ended_as = @status, ended_because = @reason, end_checkpoint_id = @checkpointId
  WHERE thread_id = @threadId AND turn = ${LATEST}`;

// The turn that a checkpoint is of: the first that has not ended before it. An end that was pruned away is older.
const SELECT_TURN_AT = `
  SELECT coalesce(min(i.turn), ${LATEST}) FROM thread_inputs AS i JOIN checkpoints AS c
    ON c.thread_id = i.thread_id AND c.checkpoint_ns = '' AND c.checkpoint_id = i.end_checkpoint_id
  WHERE i.thread_id = @threadId AND c.seq >= @seq`;

// The last of them stands as the run does.
const COPY = `
  INSERT INTO thread_inputs (thread_id, turn, turn_key, type, value, sha256, begun_at, taken_at, ended_as, ended_because,
                             end_checkpoint_id, seal)
  SELECT @to, turn, turn_key, type, value, sha256, @now, @now, iif(turn < @turn, ended_as, NULL),
         iif(turn < @turn, ended_because, NULL), iif(turn < @turn, end_checkpoint_id, NULL),
         iif(seal IS NULL, NULL, seal_of(@to, turn, turn_key, type, sha256))
  FROM thread_inputs WHERE thread_id = @from AND turn <= @turn`;

/**
 * Rows of `thread_inputs`: what a run was given, as serialized bytes, a turn each: its input until a checkpoint holds it. Rows of
 * their own, because every claim and every settlement rewrites the row of the run. What is read is checked against its SHA-256.
 */
export class ThreadInputStore {
  readonly #now: () => number;
  readonly #selectLatest: Statement<[string], InputTurnRow>;
  readonly #selectByKey: Statement<[string, string | null], InputTurnRow>;
  readonly #selectInput: Statement<[object], InputRow>;
  readonly #insert: Statement<[object]>;
  readonly #update: Statement<[object]>;
  readonly #markTaken: Statement<[object]>;
  readonly #end: Statement<[object]>;
  readonly #db: Database;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now }: StoreOptions = {}) {
    this.#db = db;
    this.#now = now;
    useSeals(db);
    this.#selectLatest = prepare(db, SELECT_LATEST);
    this.#selectByKey = prepare(db, SELECT_BY_KEY);
    this.#selectInput = prepare(db, SELECT_INPUT);
    this.#insert = prepare(db, INSERT);
    this.#update = prepare(db, UPDATE);
    this.#markTaken = prepare(db, MARK_TAKEN);
    this.#end = prepare(db, END);
  }

  /**
   * Records a turn after those the run has, in the transaction that begins it.
   *
   * @param input - Masked.
   * @throws DevsError `STATE_CORRUPT` if there is one of that key: the row of its run is missing.
   */
  insert(threadId: string, input: TypedBytes, key: string | null = null): void {
    const { changes } = this.#insert.run({ ...inputRow(threadId, input), key, now: this.#now() });
    if (changes === 0) throw inputCorrupt(threadId, 'exists, but its run is missing');
  }

  /** Puts another input in place of the latest, which no checkpoint holds yet. @throws DevsError `STATE_CORRUPT` if there is none. */
  replace(threadId: string, input: TypedBytes): void {
    if (this.#update.run(inputRow(threadId, input)).changes === 0) throw inputCorrupt(threadId, 'is missing');
  }

  /** A checkpoint holds the input of the latest turn: in the transaction of that checkpoint. For a first turn, the checkpoint is enough. */
  markTaken(threadId: string): void {
    if (this.#latest(threadId)?.turn === 1) return;
    this.#markTaken.run({ threadId, now: this.#now() });
  }

  /** Gives a run the turns that another one had taken up by a checkpoint, in the transaction that creates it. */
  copy(from: string, to: string, seq: number): void {
    const turn = prepare<[object], number>(this.#db, SELECT_TURN_AT).pluck().get({ threadId: from, seq });
    const { changes } = prepare(this.#db, COPY).run({ from, to, turn, now: this.#now() });
    if (changes === 0) throw inputCorrupt(from, 'is missing');
  }

  /** Records how the latest turn ended, in the transaction that begins the next. @throws DevsError as {@link latest}. */
  end(threadId: string, end: TurnEnd): void {
    this.latest(threadId);
    this.#end.run({ threadId, ...end });
  }

  /** The turn that a run stands in; `null` if it has no input. @throws DevsError `STATE_CORRUPT` if a later one is missing. */
  latest(threadId: string): InputTurn | null {
    const turn = this.#latest(threadId);
    if (turn !== null && turn.end !== null) throw inputCorrupt(threadId, 'is missing');
    return turn;
  }

  #latest(threadId: string): InputTurn | null {
    const read = (): InputTurn | null => toTurn(this.#selectLatest.get(threadId));
    return readKept(this.#db, { threadId, name: 'latest input', tables: ['thread_inputs'], read });
  }

  /** The turn before the latest; `null` in a first turn. */
  before(threadId: string): InputTurn | null {
    return toTurn(prepare<[string], InputTurnRow>(this.#db, SELECT_BEFORE).get(threadId));
  }

  /** How the turn before the latest ended; `null` in a first turn. */
  endBefore(threadId: string): TurnEnd | null {
    return this.before(threadId)?.end ?? null;
  }

  /** Every turn, oldest first, with when it was recorded, ms since the Unix epoch; `null` in rows of an older engine. */
  list(threadId: string): readonly (InputTurn & { readonly begunAt: number | null })[] {
    const rows = prepare<[string], InputTurnRow & { readonly begunAt: number | null }>(this.#db, SELECT_ALL);
    return rows.all(threadId).flatMap(({ begunAt, ...row }) => {
      const turn = toTurn(row);
      return turn === null ? [] : [{ ...turn, begunAt }];
    });
  }

  /** The turn of a key, or with `null` the one that was begun without. */
  find(threadId: string, key: string | null): InputTurn | null {
    const read = (): InputTurn | null => toTurn(this.#selectByKey.get(threadId, key));
    const name = key === null ? 'input' : `input "${key}"`;
    return readKept(this.#db, { threadId, name, tables: ['thread_inputs'], read });
  }

  /** What a turn was given, the latest without `turn`. @throws DevsError `STATE_CORRUPT` if there is none, or not what was recorded. */
  require(threadId: string, turn: number | null = null): TypedBytes {
    const row = this.#selectInput.get({ threadId, turn });
    if (row === undefined) throw inputCorrupt(threadId, 'is missing');
    const { type, value, sha256, seal } = row;
    const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : value;
    if (sha256 !== null && !equalBytes(hashBytes(bytes), sha256)) {
      throw inputCorrupt(threadId, 'does not match its SHA-256');
    }
    if (seal !== null && seal !== sealNumber([threadId, row.turn, row.turnKey, type, sha256])) {
      throw inputCorrupt(threadId, 'belongs to another turn');
    }
    return { type, bytes: plainBytes(bytes) };
  }
}

function toTurn(row: InputTurnRow | undefined): InputTurn | null {
  if (row === undefined) return null;
  const { isTaken, endedAs: status, endedBecause: reason, endCheckpointId: checkpointId, ...turn } = row;
  return { ...turn, isTaken: isTaken === 1, end: status === null ? null : { status, reason, checkpointId } };
}

function inputRow(threadId: string, { type, bytes }: TypedBytes): object {
  return { threadId, type, value: bytes, sha256: hashBytes(bytes) };
}

function inputCorrupt(threadId: string, what: string): DevsError {
  return new DevsError(`The input of run "${threadId}" ${what}.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
    context: { threadId },
  });
}
