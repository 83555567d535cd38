import { randomUUID } from 'node:crypto';
import type { Database, Statement } from 'better-sqlite3';
import { readKept } from '../../db/keptReads.ts';
import { prepare } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import { type Fence, NO_FENCE, withinTransaction } from '../commits/immediateTransaction.ts';
import {
  isUnlabelled,
  type LabelQuery,
  labelCounts,
  labelValues,
  rarest,
  UNLABELLED,
} from '../labels/RunLabelStore.ts';
import { type StoreOptions, useSeals } from '../rows/rows.ts';
import { LoggedAnswers } from './decisionLines.ts';
import { HitlVoteStore } from './HitlVoteStore.ts';
import type { AnsweredSession, HitlSession, HitlSessionKind, Principal } from './hitlSession.ts';
import * as sql from './sessionRows.ts';
import {
  type AnswerExtras,
  type AnsweredRow,
  answeredSessionOf,
  type SessionRow,
  sessionFromRow,
  storedDecision,
} from './sessionRows.ts';

/** A question as LangGraph has just suspended on it. */
export interface InterruptedQuestion {
  readonly threadId: string;
  readonly interruptId: string;
  /** Names the question over re-executions; the session id where a guard opened the session before. */
  readonly questionKey: string;
  readonly kind: HitlSessionKind;
  readonly taskId: string;
  /** SHA-256 (hex) of what is shown. */
  readonly artifactHash: string;
  /** Plain JSON, masked. */
  readonly question: unknown;
  /** Plain JSON, masked; `undefined` keeps what the session has. */
  readonly evidence?: unknown;
  readonly checkpointId: string | null;
  /** LangGraph's id of the visit that asks, where it is known: it takes over what {@link HitlSessionStore.carry} left it. */
  readonly visitId?: string;
}

/** Names a question that a visit may have asked. */
export type AskedBefore = Pick<InterruptedQuestion, 'threadId' | 'questionKey' | 'kind'> & {
  readonly visitId: string;
};

/** The session of a question, and what became of earlier ones. */
export interface OpenedSession {
  readonly session: HitlSession;
  readonly opened: boolean;
  readonly voided: readonly HitlSession[];
  /** The one that was answered with what the question does not take, where that is why it is asked again. */
  readonly refused: HitlSession | null;
}

/** Sessions of one visit that go on under another: LangGraph names the visit, and so its interrupts, anew. */
export interface CarriedSessions {
  readonly threadId: string;
  readonly toVisitId: string;
  readonly checkpointId: string;
  readonly interruptIds: readonly string[];
  readonly sessionIds: readonly string[];
}

/** A session that no interrupt carries yet. */
export interface UnboundSession {
  readonly id: string;
  readonly taskId: string;
  readonly kind: HitlSessionKind;
  readonly threadId: string | null;
  /** `{}` where the run's checkpoint holds the state. */
  readonly graphStateJson: string;
  readonly artifactHash: string | null;
  readonly evidence?: unknown;
}

export interface RecordedDecision extends AnswerExtras {
  readonly id: string;
  /** What the decider was shown; must be the whole hash. */
  readonly artifactHash: string;
  /** Plain JSON. */
  readonly decision: unknown;
  readonly principal: Principal;
  /** When it was given, milliseconds since the Unix epoch. @defaultValue now */
  readonly at?: number;
}

/** Behind all texts that have the same beginning. */
const LAST_CHARACTER = '\u{10ffff}';

/** Statuses, as JSON: of a question that nobody has answered, and of one whose answer nobody has taken up, too. */
const OPEN = '["awaiting_approval"]';
const UNTAKEN = '["awaiting_approval", "decided"]';

/**
 * Rows of `hitl_sessions`. One row per interrupt; a row can be decided only once it is bound to one. An answer is read only
 * where the decision log has it.
 */
export class HitlSessionStore {
  readonly #db: Database;
  readonly #votes: HitlVoteStore;
  readonly #logged: LoggedAnswers;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #select: Statement<[string], SessionRow>;
  readonly #selectByInterrupt: Statement<[string, string], SessionRow>;
  readonly #selectOpen: Statement<[], SessionRow>;
  readonly #selectOpenOf: Statement<[string], SessionRow>;
  readonly #selectOpenForTask: Statement<[string, string, string | null], SessionRow>;
  readonly #selectAnswered: Statement<[], AnsweredRow>;
  readonly #selectState: Statement<[string], string>;
  readonly #whetherKnown: Statement<[object], number>;
  readonly #insert: Statement<[object], SessionRow>;
  readonly #bind: Statement<[object]>;
  readonly #supersedeOlder: Statement<[object]>;
  readonly #voidOlder: Statement<[object], string>;
  readonly #clearPlace: Statement<[object], string>;
  readonly #carry: Statement<[object]>;
  readonly #adopt: Statement<[object]>;
  readonly #decide: Statement<[object], SessionRow>;
  readonly #resumeUnbound: Statement<[object]>;
  readonly #markResumed: Statement<[object]>;
  readonly #close: Statement<[object], string>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now, newId = randomUUID }: StoreOptions = {}) {
    useSeals(db);
    const rows = `SELECT ${sql.COLUMNS}, ${sql.SOUND} AS sound FROM hitl_sessions`;
    this.#db = db;
    this.#votes = new HitlVoteStore(db);
    this.#logged = new LoggedAnswers(db);
    this.#now = now;
    this.#newId = newId;
    this.#select = prepare(db, `${rows} WHERE id = ?`);
    this.#selectByInterrupt = prepare(db, `${rows} WHERE thread_id = ? AND interrupt_id = ?`);
    const open = `${rows} WHERE status = 'awaiting_approval'`;
    this.#selectOpen = prepare(db, `${open} ${sql.OLDEST_FIRST}`);
    this.#selectOpenOf = prepare(db, `${open} AND thread_id = ? ${sql.OLDEST_FIRST}`);
    this.#selectOpenForTask = prepare(db, sql.SELECT_OPEN_FOR_TASK);
    // The log judges these itself, and says more.
    this.#selectAnswered = prepare(db, sql.SELECT_ANSWERED);
    this.#selectState = prepare<[string], string>(db, sql.SELECT_STATE).pluck();
    this.#whetherKnown = prepare<[object], number>(db, sql.SELECT_WHETHER_KNOWN).pluck();
    this.#insert = prepare(db, sql.INSERT);
    this.#bind = prepare(db, sql.BIND);
    this.#supersedeOlder = prepare(db, sql.SUPERSEDE_OLDER);
    this.#voidOlder = prepare<[object], string>(db, sql.VOID_OLDER).pluck();
    this.#clearPlace = prepare<[object], string>(db, sql.CLEAR_PLACE).pluck();
    this.#carry = prepare(db, sql.CARRY);
    this.#adopt = prepare(db, sql.ADOPT);
    this.#decide = prepare(db, sql.DECIDE);
    this.#resumeUnbound = prepare(db, sql.RESUME_UNBOUND);
    this.#markResumed = prepare(db, sql.MARK_RESUMED);
    this.#close = prepare<[object], string>(db, sql.CLOSE).pluck();
  }

  /**
   * The session of an interrupt: the existing row, or the unbound session the question key names, which is bound
   * to the interrupt and can be decided from now on, or a new row. Older open rows of the same question become
   * `superseded`: a node that asks again does so under a new interrupt. A guard's session that a parallel branch
   * has bound already is shared: the guard asks once. A session that was carried to this visit goes on, answered or
   * not, if the question shows the same bytes; else it is withdrawn. So is one whose author's question shows something
   * else now, answered or not.
   *
   * @returns `opened` is true only for a new row; a bound one was announced when it was opened. `voided`: sessions whose
   *   answer or votes were given for what the question no longer shows; `refused`: one whose answer it does not take.
   * @throws DevsError `LEASE_LOST`
   */
  openForInterrupt(question: InterruptedQuestion, fence: Fence = NO_FENCE): OpenedSession {
    const columns = toColumns(question);
    return withinTransaction(this.#db, () => {
      fence.assertInTx();
      if (this.#whetherKnown.get(columns) === 0)
        return { session: this.#insertBound(columns), opened: true, voided: [], refused: null };
      if (question.visitId !== undefined) this.#adopt.run(columns);
      const cleared = this.#clearPlace.all(columns);
      const existing = this.findForQuestion(question);
      if (existing?.interruptId === question.interruptId || existing?.status === 'awaiting_approval')
        return { session: existing, opened: false, voided: [], refused: null };
      const before = this.#answeredBefore(question);
      const opened = this.#bind.run(columns).changes === 0;
      const session = opened ? this.#insertBound(columns) : this.#requireByInterrupt(question);
      this.#supersedeOlder.run(columns);
      const older = this.#voidOlder.all(columns);
      const withdrawn = [...cleared, ...older].map((id) => this.require(id));
      const voided = withdrawn.filter(({ decision, votes = [] }) => decision !== null || votes.length > 0);
      const refused = voided.some(({ id }) => id === before?.id) ? null : before;
      return { session, opened, voided, refused };
    });
  }

  #insertBound(columns: object): HitlSession {
    return this.#inserted({ ...columns, id: this.#newId(), graphStateJson: '{}', now: this.#now() });
  }

  #inserted(columns: { readonly id: string } & Readonly<Record<string, unknown>>): HitlSession {
    return this.#from(this.#insert.get(columns)) ?? sessionNotFound(columns.id);
  }

  /** An author's gate that shows the same is asked again only where it does not take what was answered. */
  #answeredBefore({ visitId, kind, artifactHash, ...question }: InterruptedQuestion): HitlSession | null {
    if (kind !== 'node_gate' || visitId === undefined) return null;
    const asked = this.findAsked({ ...question, kind, visitId });
    return asked?.decision != null && asked.artifactHash === artifactHash ? asked : null;
  }

  /** Hands the sessions of a visit to the one that takes its place, with the answers they have. */
  carry({ interruptIds, sessionIds, ...where }: CarriedSessions): void {
    const lists = { interruptIds: JSON.stringify(interruptIds), sessionIds: JSON.stringify(sessionIds) };
    withinTransaction(this.#db, () => this.#carry.run({ ...where, ...lists }));
  }

  /** Records a question before LangGraph suspends on it, or one that belongs to no run. */
  insertUnbound({ evidence, ...session }: UnboundSession): HitlSession {
    const columns = {
      ...session,
      interruptId: null,
      questionKey: null,
      checkpointId: null,
      questionJson: null,
      evidenceJson: toJson(evidence),
      now: this.#now(),
    };
    return withinTransaction(this.#db, () => this.#inserted(columns));
  }

  find(id: string): HitlSession | null {
    return this.#from(this.#select.get(id));
  }

  /** Whether there is such a row, damaged or not. */
  has(id: string): boolean {
    return this.#selectState.get(id) !== undefined;
  }

  /** @throws DevsError `GATE_NOT_FOUND`, `STATE_CORRUPT` */
  require(id: string): HitlSession {
    return this.find(id) ?? sessionNotFound(id);
  }

  findByInterrupt(threadId: string, interruptId: string): HitlSession | null {
    return this.#from(this.#selectByInterrupt.get(threadId, interruptId));
  }

  /** The session of an interrupt, or the bound one that its question key names. */
  findForQuestion({
    threadId,
    interruptId,
    questionKey,
  }: Pick<InterruptedQuestion, 'threadId' | 'interruptId' | 'questionKey'>): HitlSession | null {
    const own = this.findByInterrupt(threadId, interruptId);
    if (own !== null) return own;
    const named = this.find(questionKey);
    return named?.threadId === threadId && named.interruptId !== null ? named : null;
  }

  /** The latest session of a question that this visit has asked and that was not withdrawn. */
  findAsked(asked: AskedBefore): HitlSession | null {
    return this.#from(prepare<[object], SessionRow>(this.#db, sql.SELECT_ASKED).get(asked));
  }

  /** The oldest open session of a kind about a task, of this run or, with `null`, of none. */
  findOpenForTask(taskId: string, kind: HitlSessionKind, threadId: string | null): HitlSession | null {
    return this.#from(this.#selectOpenForTask.get(taskId, kind, threadId));
  }

  /** Open sessions, of one run or of all, oldest first. */
  listOpen(threadId?: string): readonly HitlSession[] {
    return (threadId === undefined ? this.#selectOpen.all() : this.#selectOpenOf.all(threadId)).map(
      this.#toSession,
    );
  }

  /** Open sessions of all runs, oldest first; `after` is the last that was seen. */
  pageOpen(
    after: Pick<HitlSession, 'suspendedAt' | 'id'> | null,
    limit: number,
    query: LabelQuery = UNLABELLED,
  ): readonly HitlSession[] {
    const { suspendedAt, id } = after ?? { suspendedAt: Number.MIN_SAFE_INTEGER, id: '' };
    const first = isUnlabelled(query) ? null : rarest(labelCounts(this.#db, query));
    return prepare<[object], SessionRow>(this.#db, sql.selectInboxOf(query, first))
      .all({ suspendedAt, id, limit, ...labelValues(query) })
      .map(this.#toSession);
  }

  /** Open sessions of runs, by id. */
  openIds(): readonly string[] {
    return prepare<[object], string>(this.#db, sql.SELECT_OPEN_IDS).pluck().all({});
  }

  /** How many sessions of runs are open. */
  countOpen(): number {
    return prepare<[object], number>(this.#db, sql.COUNT_INBOX).pluck().get({}) ?? 0;
  }

  /** When the oldest open session of a run was opened, in milliseconds since the Unix epoch; `null` without one. */
  oldestOpen(): number | null {
    return prepare<[object], number | null>(this.#db, sql.SELECT_OLDEST_OPEN).pluck().get({}) ?? null;
  }

  /** Open sessions of all runs: of the newest run first, and of each the oldest first. */
  listOpenOfRuns(): readonly HitlSession[] {
    return prepare<[object], SessionRow>(this.#db, sql.SELECT_OPEN_OF_RUNS).all({}).map(this.#toSession);
  }

  /** Sessions of runs whose ids begin so, in the same order. */
  listNamed(beginning: string): readonly HitlSession[] {
    const range = { from: beginning, to: `${beginning}${LAST_CHARACTER}` };
    return prepare<[object], SessionRow>(this.#db, sql.SELECT_NAMED).all(range).map(this.#toSession);
  }

  /** Sessions of a run that are not open any more, oldest first. */
  listClosed(threadId: string): readonly HitlSession[] {
    return prepare<[string], SessionRow>(this.#db, sql.SELECT_CLOSED).all(threadId).map(this.#toSession);
  }

  /** Sessions that hold or claim to hold a decision, in no order, one after the other: a file may have many. */
  *answered(): IterableIterator<AnsweredSession> {
    for (const row of this.#selectAnswered.iterate()) yield answeredSessionOf(row);
  }

  /** Answered sessions of a run and kind, oldest first. */
  listDecided(threadId: string, kind: HitlSessionKind): readonly HitlSession[] {
    const select = prepare<[string, string], SessionRow>(this.#db, sql.SELECT_DECIDED);
    return select.all(threadId, kind).map(this.#toSession);
  }

  /** The decisions of a run about one tool call, by its digest, oldest first. */
  decidedOnCall(threadId: string, call: string): readonly unknown[] {
    const select = prepare<[string, string], SessionRow>(this.#db, sql.SELECT_DECIDED_ON_CALL);
    return select.all(threadId, call).map((row) => this.#toSession(row).decision);
  }

  /** Decisions recorded, for one run or for all. */
  countDecisions(threadId?: string): number {
    const sum = threadId === undefined ? sql.COUNT_DECISIONS : sql.COUNT_DECISIONS_OF;
    return prepare<[object], { readonly count: number }>(this.#db, sum).get({ threadId })?.count ?? 0;
  }

  /** The interrupts of a run that are answered and still wait for their nodes. */
  untakenOf(threadId: string): readonly string[] {
    const select = prepare<[string], string>(this.#db, sql.SELECT_UNTAKEN).pluck();
    const read = (): readonly string[] => select.all(threadId);
    return readKept(this.#db, { threadId, name: 'untaken', tables: ['hitl_sessions'], read });
  }

  /** Whether a run has answers. */
  #hasAnswers(threadId: string): boolean {
    const select = prepare<[string], number>(this.#db, sql.SELECT_WHETHER_DECIDED).pluck();
    const read = (): boolean => select.get(threadId) === 1;
    return readKept(this.#db, { threadId, name: 'decided', tables: ['hitl_sessions'], read });
  }

  /** Whether a human has decided something that was asked in the super-step after a checkpoint. */
  hasHumanDecisionAt(threadId: string, checkpointId: string): boolean {
    if (!this.#hasAnswers(threadId)) return false;
    return prepare<[string, string]>(this.#db, sql.SELECT_HUMAN_AT).get(threadId, checkpointId) !== undefined;
  }

  /** The state a free-standing session was opened with, as JSON. @throws DevsError `GATE_NOT_FOUND` */
  graphStateJson(id: string): string {
    return this.#selectState.get(id) ?? sessionNotFound(id);
  }

  /**
   * The one conditional write of a decision (law L2): the session for exactly one caller, `null` for the others.
   *
   * @param log - Appends what it says to the decision log: until then the session cannot be read.
   */
  decide(given: RecordedDecision, log: (said: AnsweredSession) => void): HitlSession | null {
    const { id, artifactHash, decision, principal, at = this.#now(), ...beside } = given;
    const values = {
      id,
      artifactHash,
      decisionJson: storedDecision(decision, beside),
      principalKind: principal.kind,
      principalId: principal.id,
      now: at,
    };
    return withinTransaction(this.#db, () => {
      const row = this.#decide.get(values);
      if (row === undefined) return null;
      log(answeredSessionOf(row));
      return this.#toSession(row);
    });
  }

  /** Closes an open free-standing session: true for exactly one caller. */
  resumeUnbound(id: string): boolean {
    const close = () => this.#resumeUnbound.run({ id, now: this.#now() });
    return withinTransaction(this.#db, close).changes === 1;
  }

  /** Marks decided sessions whose interrupt LangGraph no longer lists as taken up; returns how many. */
  markResumed(threadId: string, openInterruptIds: readonly string[]): number {
    const values = { threadId, openInterruptIds: JSON.stringify(openInterruptIds), now: this.#now() };
    return withinTransaction(this.#db, () => this.#markResumed.run(values)).changes;
  }

  /** Withdraws a run's open sessions, because it was set back or has ended; returns them. */
  supersedeOpen(threadId: string, as: 'superseded' | 'cancelled' = 'superseded'): readonly HitlSession[] {
    return this.#closed({ status: as, threadId, closed: OPEN }).map((id) => this.require(id));
  }

  /** Withdraws the open sessions of these interrupts: their nodes ask anew. */
  withdraw(threadId: string, interruptIds: readonly string[]): void {
    const ids = JSON.stringify(interruptIds);
    withinTransaction(this.#db, () => prepare<[string, string]>(this.#db, sql.WITHDRAW).run(threadId, ids));
  }

  /** Withdraws what a run's turn has left, also what was answered: nobody takes it up once the next one begins. */
  closeTurn(threadId: string): void {
    this.#closed({ status: 'cancelled', threadId, closed: UNTAKEN });
  }

  #closed(given: { readonly status: string; readonly threadId: string; readonly closed: string }) {
    return withinTransaction(this.#db, () => this.#close.all(given));
  }

  #from(row: SessionRow | undefined): HitlSession | null {
    return row === undefined ? null : this.#toSession(row);
  }

  /** @throws DevsError `STATE_CORRUPT` for an answer that the decision log does not have. */
  readonly #toSession = (row: SessionRow): HitlSession => {
    const session = sessionFromRow(row, (id) => this.#votes.of(id));
    this.#logged.assertLogged(session);
    return session;
  };

  #requireByInterrupt({ threadId, interruptId }: InterruptedQuestion): HitlSession {
    return this.findByInterrupt(threadId, interruptId) ?? sessionNotFound(interruptId);
  }
}

function toColumns({ question, evidence, visitId = '', ...columns }: InterruptedQuestion): object {
  return { ...columns, visitId, questionJson: toJson(question), evidenceJson: toJson(evidence) };
}

function toJson(value: unknown): string | null {
  return value === undefined || value === null ? null : canonicalJson(value);
}

function sessionNotFound(id: string): never {
  throw new DevsError(`There is no gate "${id}" in this state file.`, {
    code: 'GATE_NOT_FOUND',
    remedy: 'List the open gates to find the right id.',
    context: { sessionId: id },
  });
}
