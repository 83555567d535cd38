import type { Database, Statement } from 'better-sqlite3';
import { prepare, transaction } from '../../db/prepare.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import { withinTransaction } from '../commits/immediateTransaction.ts';
import { parseStored } from '../rows/rows.ts';
import { DecisionTextStore } from './DecisionTextStore.ts';
import { type DecisionBody, hashOfLine, isSaidBy, referringBody, START_OF_CHAIN } from './decisionLines.ts';
import { HitlSessionStore } from './HitlSessionStore.ts';
import type { AnsweredSession } from './hitlSession.ts';

/** A line of the decision log. */
export interface LoggedDecision {
  readonly seq: number;
  readonly sessionId: string;
  readonly bodyJson: string;
  readonly prevSha256: string;
  readonly sha256: string;
}

/** Kept apart from the lines: a chain alone does not miss its last one. */
interface EndOfLog {
  readonly lines: number;
  readonly sha256: string;
}

export type LogVerdict =
  | { readonly ok: true }
  /** `seq`: the first line that does not fit; `null` where a line is missing, or a text is at fault. */
  | { readonly ok: false; readonly seq: number | null; readonly reason: string };

const COLUMNS = 'seq, session_id AS sessionId, body_json AS bodyJson, prev_sha256 AS prevSha256, sha256';

const INSERT = `
  INSERT INTO hitl_decisions (seq, session_id, body_json, prev_sha256, sha256)
  VALUES (@seq, @sessionId, @bodyJson, @prevSha256, @sha256)`;

const SELECT_END = 'SELECT lines, sha256 FROM decision_log_end';

const MOVE_END = 'UPDATE decision_log_end SET lines = @seq, sha256 = @sha256';

// A run inside a run has the outer one's id and a slash in front of its own; only the outer one is a thread.
const SELECT_RUN = 'SELECT 1 FROM threads WHERE thread_id IN (SELECT value FROM json_each(?)) LIMIT 1';

/** The id may be that of another run since: what was decided before the run was deleted is gone with it. */
const SELECT_REMOVED = `
  SELECT 1 FROM events WHERE thread_id IS NULL AND name = 'RUN_REMOVED' AND at >= @decidedAt
    AND payload_json ->> 'id' IN (SELECT value FROM json_each(@ids)) LIMIT 1`;

const SELECT_LAST = `SELECT ${COLUMNS} FROM hitl_decisions WHERE seq = (SELECT max(seq) FROM hitl_decisions)`;

/**
 * Append-only log of decisions, each line chained to the one before by SHA-256, and each decided session
 * compared with its line. It finds an edited, deleted or reordered line, the last one included, and a forged status. It does not find
 * a forger who writes the whole chain and all sessions anew: without a sandbox nothing on this machine can.
 *
 * A line holds who decided what and when, and no text: every string in the answer, however deep, is replaced by
 * `{ sha256 }` of it, but for that of the answer's own member `action`, which is a fixed word. Numbers, booleans and names
 * of members stay. The texts are rows of `decision_texts`, so a run can be deleted with all that was written about it and
 * the chain still verifies: a line whose session and run are both gone is sound, also where another run has the id since. Lines of an older engine hold the texts
 * themselves; they stay as they are.
 */
export class DecisionLog {
  readonly #db: Database;
  readonly #sessions: HitlSessionStore;
  readonly #texts: DecisionTextStore;
  readonly #selectLast: Statement<[], LoggedDecision>;
  readonly #selectAll: Statement<[], LoggedDecision>;
  readonly #selectRun: Statement<[ids: string], 1>;
  readonly #selectRemoved: Statement<[{ readonly ids: string; readonly decidedAt: number }], 1>;
  readonly #insert: Statement<[LoggedDecision]>;
  readonly #selectEnd: Statement<[], EndOfLog>;
  readonly #moveEnd: Statement<[LoggedDecision]>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, sessions: HitlSessionStore = new HitlSessionStore(db)) {
    this.#db = db;
    this.#sessions = sessions;
    this.#texts = new DecisionTextStore(db);
    this.#selectLast = prepare(db, SELECT_LAST);
    this.#selectAll = prepare(db, `SELECT ${COLUMNS} FROM hitl_decisions ORDER BY seq ASC`);
    this.#selectRun = prepare(db, SELECT_RUN);
    this.#selectRemoved = prepare(db, SELECT_REMOVED);
    this.#insert = prepare(db, INSERT);
    this.#selectEnd = prepare(db, SELECT_END);
    this.#moveEnd = prepare(db, MOVE_END);
  }

  /** Appends a line in the caller's transaction, or its own. @param body - Plain JSON. */
  append(sessionId: string, body: unknown): LoggedDecision {
    const bodyJson = canonicalJson(body);
    const append = (): LoggedDecision => {
      const last = this.#selectLast.get();
      const prevSha256 = last?.sha256 ?? START_OF_CHAIN;
      const seq = (last?.seq ?? 0) + 1;
      const line = { seq, sessionId, bodyJson, prevSha256, sha256: hashOfLine(prevSha256, bodyJson) };
      this.#insert.run(line);
      this.#moveEnd.run(line);
      return line;
    };
    return withinTransaction(this.#db, append);
  }

  /** Appends the line of a session that was just decided, and keeps its texts. */
  record(session: AnsweredSession): LoggedDecision {
    const { body, texts } = referringBody(session);
    return withinTransaction(this.#db, () => {
      this.#texts.keep(texts);
      return this.append(session.id, body);
    });
  }

  /** Checks the chain, the texts, and every answered session against its line. */
  verify(): LogVerdict {
    return transaction(this.#db, 'deferred', () => this.#verify());
  }

  #verify(): LogVerdict {
    const lines = this.#selectAll.all();
    const broken = brokenLine(lines) ?? brokenEnd(lines, this.#selectEnd.get());
    if (broken !== null) return broken;
    const { kept, edited } = this.#texts.audit();
    if (edited[0] !== undefined) return { ok: false, seq: null, reason: `text ${edited[0]} was changed` };
    const answered = new Map([...this.#sessions.answered()].map((session) => [session.id, session]));
    const logged = new Set<string>();
    for (const line of lines) {
      if (logged.has(line.sessionId)) return refuse(line, `session "${line.sessionId}" was already decided`);
      logged.add(line.sessionId);
      const session = answered.get(line.sessionId);
      const mismatch = session === undefined ? this.#lossOf(line) : mismatchOf(line, session, kept);
      if (mismatch !== null) return refuse(line, mismatch);
    }
    const unlogged = [...answered.keys()].find((id) => !logged.has(id));
    if (unlogged === undefined) return { ok: true };
    return { ok: false, seq: null, reason: `session "${unlogged}" has a decision that was never logged` };
  }

  /** A line may stand alone once its run was deleted as a whole. */
  #lossOf({ sessionId, bodyJson }: LoggedDecision): string | null {
    const body = parseStored(bodyJson, 'the decision log') as Partial<DecisionBody>;
    if (body.sessionId !== sessionId) return `it does not belong to session "${sessionId}"`;
    const isDeleted = !this.#sessions.has(sessionId) && this.#isRunGone(body);
    return isDeleted ? null : `session "${sessionId}" no longer has its decision`;
  }

  #isRunGone({ threadId = null, decidedAt = null }: Partial<DecisionBody>): boolean {
    if (threadId === null) return false;
    const ids = JSON.stringify(runsAround(threadId));
    if (this.#selectRun.get(ids) === undefined) return true;
    return decidedAt !== null && this.#selectRemoved.get({ ids, decidedAt }) !== undefined;
  }
}

/** A run and those it may be inside of: their ids are the beginnings of its own. */
function runsAround(threadId: string): readonly string[] {
  const parts = threadId.split('/');
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

function brokenLine(lines: readonly LoggedDecision[]): LogVerdict | null {
  let prev = START_OF_CHAIN;
  for (const [index, line] of lines.entries()) {
    if (line.seq !== index + 1) return refuse(line, `line ${index + 1} is missing`);
    if (line.prevSha256 !== prev) return refuse(line, 'it does not follow the line before');
    if (line.sha256 !== hashOfLine(prev, line.bodyJson)) return refuse(line, 'its content was changed');
    prev = line.sha256;
  }
  return null;
}

function brokenEnd(lines: readonly LoggedDecision[], end: EndOfLog | undefined): LogVerdict | null {
  const last = lines.at(-1);
  if (end?.lines === lines.length && end.sha256 === (last?.sha256 ?? START_OF_CHAIN)) return null;
  const recorded = end === undefined ? 'no recorded end' : `${end.lines} lines on record`;
  return { ok: false, seq: null, reason: `The decision log ends at line ${lines.length}, with ${recorded}.` };
}

function mismatchOf(
  { sessionId, bodyJson }: LoggedDecision,
  session: AnsweredSession,
  kept: ReadonlySet<string>,
): string | null {
  if (session.status === 'awaiting_approval') return `session "${sessionId}" is open again`;
  if (!isSaidBy(bodyJson, session)) return `session "${sessionId}" has a different decision`;
  const { body, texts } = referringBody(session);
  if (canonicalJson(body) !== bodyJson) return null; // An older engine wrote the texts into the line.
  const missing = [...texts.keys()].find((sha256) => !kept.has(sha256));
  return missing === undefined ? null : `text ${missing} of session "${sessionId}" is missing`;
}

function refuse({ seq }: LoggedDecision, reason: string): LogVerdict {
  return { ok: false, seq, reason: `Line ${seq} of the decision log: ${reason}.` };
}
