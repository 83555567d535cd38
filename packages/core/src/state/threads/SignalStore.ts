import type { Database, Statement } from 'better-sqlite3';
import { tellNews } from '../../db/FileWatch.ts';
import { readKept } from '../../db/keptReads.ts';
import { prepare } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import { isSound, parseStored, SIGNAL_SEAL, type StoreOptions, sealOf, useSeals } from '../rows/rows.ts';
import { runNotFound, type Thread } from './threadRecords.ts';

export const SIGNAL_KINDS = [
  'decision',
  'pause',
  'resume',
  'cancel',
  'rewind',
  'timeout',
  'message',
] as const;

export type SignalKind = (typeof SIGNAL_KINDS)[number];

/** A recorded request to a run, or a message for its nodes; kept after it was handled. */
export interface Signal {
  readonly id: string;
  readonly threadId: string;
  /** The wake sequence it raised. */
  readonly seq: number;
  readonly kind: SignalKind;
  /** Plain JSON. */
  readonly payload: unknown;
  readonly createdAt: number;
  readonly consumedAt: number | null;
}

export type NewSignal = Pick<Signal, 'id' | 'kind' | 'payload'>;

interface SignalRow extends Omit<Signal, 'payload'> {
  readonly payloadJson: string;
  readonly sound: 1;
}

const COLUMNS = `
  id, thread_id AS threadId, seq, kind, payload_json AS payloadJson, created_at AS createdAt,
  consumed_at AS consumedAt, ${isSound(SIGNAL_SEAL)} AS sound`;

const WAKE = `
  UPDATE threads SET wake_seq = wake_seq + 1, updated_at = @now WHERE thread_id = @threadId RETURNING wake_seq`;

const INSERT = `
  INSERT INTO signals (id, thread_id, seq, kind, payload_json, created_at, row_sha256)
  VALUES (@id, @threadId, @seq, @kind, @payloadJson, @createdAt,
          ${sealOf(SIGNAL_SEAL, ['@id', '@threadId', 'CAST(@seq AS INTEGER)', '@kind', '@payloadJson', 'CAST(@createdAt AS INTEGER)'])})`;

/** Whether something came in for a run that no driver has settled on. */
export type Wakes = Pick<Thread, 'status' | 'wakeSeq' | 'handledSeq'>;

// SQLite would walk through all signals of the run, as they are in order.
const SELECT_PENDING = `
  SELECT ${COLUMNS} FROM signals INDEXED BY signals_unhandled
  WHERE thread_id = ? AND consumed_at IS NULL AND kind IN (SELECT value FROM json_each(?)) ORDER BY seq ASC`;

/** Requests that stop a run. */
export const STOPPING: readonly SignalKind[] = ['pause', 'cancel'];

const REQUESTS = SIGNAL_KINDS.filter((kind) => kind !== 'message');

/** Rows of `signals`. The half of {@link ThreadStore} that callers reach through it. */
export class SignalStore {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #selectById: Statement<[string], SignalRow>;
  readonly #selectWakes: Statement<[string], Wakes>;
  readonly #selectPending: Statement<[threadId: string, kinds: string], SignalRow>;
  readonly #wake: Statement<[object], number>;
  readonly #insert: Statement<[object]>;
  readonly #consume: Statement<[number, string]>;
  readonly #selectMessage: Statement<[string, string], string>;

  constructor(db: Database, { now = Date.now }: StoreOptions = {}) {
    useSeals(db);
    this.#db = db;
    this.#now = now;
    this.#selectById = prepare(db, `SELECT ${COLUMNS} FROM signals WHERE id = ?`);
    this.#selectPending = prepare(db, SELECT_PENDING);
    this.#selectMessage = prepare<[string, string], string>(
      db,
      `SELECT id FROM signals
       WHERE thread_id = ? AND consumed_at IS NULL AND kind = 'message' AND payload_json ->> 'name' = ?
       ORDER BY seq ASC LIMIT 1`,
    ).pluck();
    this.#selectWakes = prepare(
      db,
      'SELECT status, wake_seq AS wakeSeq, handled_seq AS handledSeq FROM threads WHERE thread_id = ?',
    );
    this.#wake = prepare<[object], number>(db, WAKE).pluck();
    this.#insert = prepare(db, INSERT);
    this.#consume = prepare(db, 'UPDATE signals SET consumed_at = ? WHERE id = ? AND consumed_at IS NULL');
  }

  /**
   * Must run inside a transaction.
   *
   * @returns The sequence of the signal; `null` for an unknown run.
   * @throws RangeError if the id belongs to a signal of another run, or the kind is none.
   */
  record(threadId: string, { id, kind, payload }: NewSignal): number | null {
    if (!SIGNAL_KINDS.includes(kind)) throw new RangeError(`kind: unknown signal kind "${kind}"`);
    const known = this.#selectById.get(id);
    if (known !== undefined) return sequenceOf(known, threadId);
    const now = this.#now();
    const seq = this.#wake.get({ threadId, now });
    if (seq === undefined) return null;
    this.#insert.run({ id, threadId, seq, kind, payloadJson: canonicalJson(payload), createdAt: now });
    tellNews(this.#db);
    return seq;
  }

  /** Hands a run over to workers. Must run inside a transaction. */
  wake(threadId: string): void {
    this.#wake.get({ threadId, now: this.#now() });
    tellNews(this.#db);
  }

  find(id: string): Signal | null {
    const row = this.#selectById.get(id);
    return row === undefined ? null : signalFromRow(row);
  }

  /** @throws DevsError `STATE_CORRUPT` for a row that somebody refers to and that is gone. */
  require(id: string): Signal {
    return this.find(id) ?? signalMissing(id);
  }

  /** Takes the oldest message of a name that nobody has; its id, or `null`. In the caller's transaction. */
  takeMessage(threadId: string, name: string): string | null {
    const id = this.#selectMessage.get(threadId, name) ?? null;
    if (id !== null) this.consume(id);
    return id;
  }

  /**
   * Requests of some kinds that nobody has handled, oldest first. Decisions are never consumed: a run has as many as were
   * made.
   *
   * @param kinds - Default: all but messages, which wait for whoever takes them.
   */
  pending(threadId: string, kinds: readonly SignalKind[] = REQUESTS): readonly Signal[] {
    // Those that stop a run are looked for one by one, and read together.
    const areStops = kinds.every((kind) => STOPPING.includes(kind));
    const asked = JSON.stringify(areStops ? STOPPING : kinds);
    const read = (): readonly Signal[] => this.#selectPending.all(threadId, asked).map(signalFromRow);
    const pending = readKept(this.#db, { threadId, name: `signals ${asked}`, tables: ['signals'], read });
    return pending.filter(({ kind }) => kinds.includes(kind));
  }

  /** What a waiting process looks at, again and again. @throws DevsError `THREAD_NOT_FOUND` */
  wakesOf(threadId: string): Wakes {
    return this.#selectWakes.get(threadId) ?? runNotFound(threadId);
  }

  consume(id: string): void {
    this.#consume.run(this.#now(), id);
  }
}

function signalMissing(id: string): never {
  throw new DevsError(`Signal "${id}" was delivered to a node but is missing from this state file.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Run devs admin doctor, then restore a backup of the state file.',
    context: { id },
  });
}

function sequenceOf({ id, threadId: owner, seq }: SignalRow, threadId: string): number {
  if (owner === threadId) return seq;
  throw new RangeError(
    `Signal id "${id}" belongs to run "${owner}" and cannot be used for run "${threadId}".`,
  );
}

function signalFromRow({ payloadJson, sound: _, ...row }: SignalRow): Signal {
  return { ...row, payload: parseStored(payloadJson, `signal "${row.id}"`) };
}
