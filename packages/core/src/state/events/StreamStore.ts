import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { equalBytes, hashBytes, plainBytes } from '../blobs/BlobStore.ts';
import type { TypedBytes } from '../checkpoints/checkpointRecords.ts';
import { parseStored, sealNumber, useSeals } from '../rows/rows.ts';

export type RecordedMode = 'updates' | 'values' | 'custom' | 'gate' | 'end' | 'turn';

/** Where in the file a chunk is, as JSON, or its masked value. */
export type StreamBody = { readonly refers: unknown } | { readonly value: TypedBytes };

export interface NewStreamEvent {
  readonly mode: RecordedMode;
  /** LangGraph's namespace of the graph it is of; `''` for the run's own. */
  readonly ns: string;
  /** What it is told once in, and as the how many-eth from 0. Without it, whoever appends it knows that it is new. */
  readonly once?: { readonly scope: string; readonly ordinal: number };
  readonly body: StreamBody;
}

export interface StreamRecord {
  /** Of the run; from 1, without a gap. */
  readonly seq: number;
  readonly mode: RecordedMode;
  readonly ns: string;
  /** Who told it, of `once`; `null` where nobody can be told apart. */
  readonly scope: string | null;
  readonly body: StreamBody;
}

interface StreamRow extends Pick<StreamRecord, 'seq' | 'ns'> {
  readonly mode: Exclude<RecordedMode, 'turn'>;
  readonly refersJson: string | null;
  readonly type: string | null;
  readonly value: Buffer | null;
  readonly sha256: Buffer | null;
  readonly scope: string | null;
  readonly ordinal: number | null;
  /** `null` in rows of before. */
  readonly seal: number | null;
}

const INSERT = `
  INSERT INTO stream_events (thread_id, seq, mode, ns, scope, ordinal, refers_json, type, value, sha256, seal)
  SELECT @threadId, next.seq, @mode, @ns, @scope, @ordinal, @refersJson, @type, @value, @sha256,
         seal_of(@threadId, next.seq, @mode, @ns, @scope, @ordinal, @refersJson, @type, @sha256)
  FROM (SELECT coalesce(max(seq), 0) + 1 AS seq FROM stream_events WHERE thread_id = @threadId) AS next
  WHERE true
  ON CONFLICT (thread_id, scope, ordinal) WHERE scope IS NOT NULL DO NOTHING
  RETURNING seq`;

const SELECT_PAGE = `
  SELECT seq, mode, ns, refers_json AS refersJson, type, value, sha256, scope, ordinal, seal FROM stream_events
  WHERE thread_id = ? AND seq > ? ORDER BY seq ASC LIMIT ?`;

const SELECT_FIRST = 'SELECT min(seq) FROM stream_events WHERE thread_id = ?';
const SELECT_LAST = 'SELECT max(seq) FROM stream_events WHERE thread_id = ?';

const SELECT_TURN =
  "SELECT seq FROM stream_events WHERE thread_id = ? AND scope = 'turn ' || ? AND ordinal = 0";

/** A row of mode `end` in this scope is the beginning of a turn: the table knows few modes. */
const TURN_SCOPE = 'turn ';

/** The scope of the beginning of a turn, by its key. */
export const turnScope = (turn: string): string => `${TURN_SCOPE}${turn}`;

const TRIM = 'DELETE FROM stream_events WHERE thread_id = ? AND seq <= ?';

/** Rows that are deleted together, so that not every row costs a second statement. */
const TRIM_EVERY = 64;

/** Rows read at a time: no statement is open while a reader works. */
const PAGE = 64;

const statementsOf = (db: Database) => ({
  insert: prepare<[object], number>(db, INSERT).pluck() as Statement<[object], number>,
  page: prepare<[string, number, number], StreamRow>(db, SELECT_PAGE),
  first: prepare<[string], number | null>(db, SELECT_FIRST).pluck(),
  last: prepare<[string], number | null>(db, SELECT_LAST).pluck(),
  turn: prepare<[string, string], number>(db, SELECT_TURN).pluck(),
  trim: prepare<[string, number]>(db, TRIM),
});

/** Rows of `stream_events`: appended, and deleted oldest first. Opens no transaction of its own. */
export class StreamStore {
  readonly #statements: ReturnType<typeof statementsOf>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    useSeals(db);
    this.#statements = statementsOf(db);
  }

  /**
   * Appends an event of a run, in the caller's transaction, unless it was told before.
   *
   * @param keep - Events of the run that are kept at least, the newest ones.
   */
  append(threadId: string, { mode, ns, once, body }: NewStreamEvent, keep: number): boolean {
    const { scope, ordinal } = once ?? { scope: null, ordinal: null };
    const row = { threadId, mode: mode === 'turn' ? 'end' : mode, ns, scope, ordinal };
    const seq = this.#statements.insert.get({ ...row, ...bodyColumns(body) });
    if (seq === undefined) return false;
    if (seq % TRIM_EVERY === 0 && seq > keep) this.#statements.trim.run(threadId, seq - keep);
    return true;
  }

  /**
   * The next events of a run, oldest first; few of them.
   *
   * @throws DevsError `STATE_CORRUPT` if one is not what was appended, or is missing between two others.
   */
  page(threadId: string, afterSeq: number): readonly StreamRecord[] {
    const rows = this.#statements.page.all(threadId, afterSeq, PAGE);
    const first = rows[0]?.seq ?? 0;
    return rows.map((row, at) => {
      if (row.seq !== first + at) throw streamCorrupt(threadId, first + at, 'is missing');
      return toRecord(threadId, row);
    });
  }

  /** The oldest event that is kept; 0 where a run has none. */
  firstSeq(threadId: string): number {
    return this.#statements.first.get(threadId) ?? 0;
  }

  /** The newest one; 0 where a run has none. */
  lastSeq(threadId: string): number {
    return this.#statements.last.get(threadId) ?? 0;
  }

  /** The event that begins a turn; `null` where that is not kept, or the turn has not begun. */
  turnSeq(threadId: string, turn: string): number | null {
    return this.#statements.turn.get(threadId, turn) ?? null;
  }
}

function bodyColumns(body: NewStreamEvent['body']): object {
  if ('refers' in body)
    return { refersJson: JSON.stringify(body.refers), type: null, value: null, sha256: null };
  const { type, bytes } = body.value;
  return { refersJson: null, type, value: bytes, sha256: hashBytes(bytes) };
}

function toRecord(threadId: string, row: StreamRow): StreamRecord {
  const { seq, mode: stored, ns, scope, ordinal, refersJson, type, value, sha256, seal } = row;
  const sealed = [threadId, seq, stored, ns, scope, ordinal, refersJson, type, sha256];
  if (seal !== null && seal !== sealNumber(sealed)) throw streamCorrupt(threadId, seq, 'was replaced');
  const mode = stored === 'end' && scope?.startsWith(TURN_SCOPE) === true ? 'turn' : stored;
  const event = { seq, mode, ns, scope } as const;
  if (refersJson !== null) {
    return {
      ...event,
      body: { refers: parseStored(refersJson, `event ${seq} of the stream of "${threadId}"`) },
    };
  }
  if (type === null || value === null || sha256 === null || !equalBytes(hashBytes(value), sha256)) {
    throw streamCorrupt(threadId, seq, 'does not match its SHA-256');
  }
  return { ...event, body: { value: { type, bytes: plainBytes(value) } } };
}

function streamCorrupt(threadId: string, seq: number, what: string): DevsError {
  return new DevsError(`Event ${seq} of the stream of "${threadId}" ${what}.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
    context: { threadId, seq },
  });
}
