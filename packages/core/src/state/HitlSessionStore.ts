import { randomUUID } from 'node:crypto';
import type { Database, Statement } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { canonicalJson } from './canonicalJson.ts';
import { type Fence, NO_FENCE } from './Fence.ts';
import type { HitlSession, HitlSessionKind, Principal } from './hitlSession.ts';
import { ADOPT, CARRY, CLEAR_PLACE, SUPERSEDE_OLDER, VOID_OLDER } from './hitlSessionSql.ts';
import { immediately } from './immediately.ts';
import type { StoreOptions } from './StoreOptions.ts';

export type * from './hitlSession.ts';

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

/** The session of a question, and what became of earlier ones. */
export interface OpenedSession {
  readonly session: HitlSession;
  readonly opened: boolean;
  readonly voided: readonly HitlSession[];
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

export interface RecordedDecision {
  readonly id: string;
  /** What the decider was shown; must be the whole hash. */
  readonly artifactHash: string;
  /** Plain JSON. */
  readonly decision: unknown;
  readonly principal: Principal;
}

interface SessionRow extends Omit<HitlSession, 'question' | 'evidence' | 'decision' | 'principal'> {
  readonly questionJson: string | null;
  readonly evidenceJson: string | null;
  readonly decisionJson: string | null;
  readonly principalKind: Principal['kind'] | null;
  readonly principalId: string | null;
}

const COLUMNS = `
  id, task_id AS taskId, kind, status, thread_id AS threadId, interrupt_id AS interruptId,
  question_key AS questionKey, checkpoint_id AS checkpointId, artifact_hash AS artifactHash,
  question_json AS questionJson, evidence_json AS evidenceJson, decision_json AS decisionJson,
  principal_kind AS principalKind, principal_id AS principalId, suspended_at AS suspendedAt,
  decided_at AS decidedAt, resumed_at AS resumedAt`;

const OLDEST_FIRST = 'ORDER BY suspended_at ASC, rowid ASC';

const INSERT = `
  INSERT INTO hitl_sessions (id, task_id, graph_state_json, suspended_at, kind, thread_id, interrupt_id, question_key,
                             checkpoint_id, artifact_hash, question_json, evidence_json)
  VALUES (@id, @taskId, @graphStateJson, @now, @kind, @threadId, @interruptId, @questionKey,
          @checkpointId, @artifactHash, @questionJson, @evidenceJson)`;

const BIND = `
  UPDATE hitl_sessions SET thread_id = @threadId, interrupt_id = @interruptId, question_key = @questionKey,
                           checkpoint_id = @checkpointId, artifact_hash = @artifactHash,
                           question_json = @questionJson, evidence_json = coalesce(@evidenceJson, evidence_json)
  WHERE id = @questionKey AND kind = @kind AND task_id = @taskId AND interrupt_id IS NULL
    AND status = 'awaiting_approval' AND (thread_id IS NULL OR thread_id = @threadId)`;

const DECIDE = `
  UPDATE hitl_sessions SET status = 'decided', decision_json = @decisionJson, principal_kind = @principalKind,
                           principal_id = @principalId, decided_at = @now
  WHERE id = @id AND status = 'awaiting_approval' AND interrupt_id IS NOT NULL AND artifact_hash = @artifactHash`;

const RESUME_UNBOUND = `
  UPDATE hitl_sessions SET status = 'resumed', resumed_at = ?
  WHERE id = ? AND status = 'awaiting_approval' AND thread_id IS NULL`;

const MARK_RESUMED = `
  UPDATE hitl_sessions SET status = 'resumed', resumed_at = @now
  WHERE thread_id = @threadId AND status = 'decided'
    AND interrupt_id NOT IN (SELECT value FROM json_each(@openInterruptIds))`;

const CLOSE_OPEN = `
  UPDATE hitl_sessions SET status = ? WHERE thread_id = ? AND status = 'awaiting_approval' RETURNING id`;

const SELECT_OPEN_FOR_TASK = `
  SELECT ${COLUMNS} FROM hitl_sessions
  WHERE task_id = ? AND kind = ? AND thread_id IS ? AND status = 'awaiting_approval' ${OLDEST_FIRST} LIMIT 1`;

const SELECT_HUMAN_AT = `
  SELECT 1 FROM hitl_sessions
  WHERE thread_id = ? AND checkpoint_id = ? AND decided_at IS NOT NULL AND principal_kind = 'human' LIMIT 1`;

/** Rows of `hitl_sessions`. One row per interrupt; a row can be decided only once it is bound to one. */
export class HitlSessionStore {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #select: Statement<[string], SessionRow>;
  readonly #selectByInterrupt: Statement<[string, string], SessionRow>;
  readonly #selectOpen: Statement<[], SessionRow>;
  readonly #selectOpenOf: Statement<[string], SessionRow>;
  readonly #selectOpenForTask: Statement<[string, string, string | null], SessionRow>;
  readonly #selectAnswered: Statement<[], SessionRow>;
  readonly #selectDecided: Statement<[string, string], SessionRow>;
  readonly #selectState: Statement<[string], string>;
  readonly #countDecisions: Statement<[{ readonly threadId: string | null }], number>;
  readonly #selectHumanAt: Statement<[string, string], 1>;
  readonly #insert: Statement<[object]>;
  readonly #bind: Statement<[object]>;
  readonly #supersedeOlder: Statement<[object]>;
  readonly #voidOlder: Statement<[object], string>;
  readonly #clearPlace: Statement<[object], string>;
  readonly #carry: Statement<[object]>;
  readonly #adopt: Statement<[object]>;
  readonly #decide: Statement<[object]>;
  readonly #resumeUnbound: Statement<[number, string]>;
  readonly #markResumed: Statement<[object]>;
  readonly #closeOpen: Statement<[string, string], string>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now, newId = randomUUID }: StoreOptions = {}) {
    const rows = `SELECT ${COLUMNS} FROM hitl_sessions`;
    this.#db = db;
    this.#now = now;
    this.#newId = newId;
    this.#select = db.prepare(`${rows} WHERE id = ?`);
    this.#selectByInterrupt = db.prepare(`${rows} WHERE thread_id = ? AND interrupt_id = ?`);
    this.#selectOpen = db.prepare(`${rows} WHERE status = 'awaiting_approval' ${OLDEST_FIRST}`);
    this.#selectOpenOf = db.prepare(
      `${rows} WHERE status = 'awaiting_approval' AND thread_id = ? ${OLDEST_FIRST}`,
    );
    this.#selectOpenForTask = db.prepare(SELECT_OPEN_FOR_TASK);
    this.#selectAnswered = db.prepare(
      `${rows} WHERE decision_json IS NOT NULL OR status = 'decided'
         OR (status = 'resumed' AND thread_id IS NOT NULL) ${OLDEST_FIRST}`,
    );
    this.#selectDecided = db.prepare(
      `${rows} WHERE thread_id = ? AND kind = ? AND decision_json IS NOT NULL ${OLDEST_FIRST}`,
    );
    this.#selectState = db
      .prepare<[string], string>('SELECT graph_state_json FROM hitl_sessions WHERE id = ?')
      .pluck();
    this.#countDecisions = db
      .prepare<[{ readonly threadId: string | null }], number>(
        `SELECT count(*) FROM hitl_sessions
         WHERE decided_at IS NOT NULL AND (@threadId IS NULL OR thread_id = @threadId)`,
      )
      .pluck();
    this.#selectHumanAt = db.prepare<[string, string], 1>(SELECT_HUMAN_AT).pluck();
    this.#insert = db.prepare(INSERT);
    this.#bind = db.prepare(BIND);
    this.#supersedeOlder = db.prepare(SUPERSEDE_OLDER);
    this.#voidOlder = db.prepare<[object], string>(VOID_OLDER).pluck();
    this.#clearPlace = db.prepare<[object], string>(CLEAR_PLACE).pluck();
    this.#carry = db.prepare(CARRY);
    this.#adopt = db.prepare(ADOPT);
    this.#decide = db.prepare(DECIDE);
    this.#resumeUnbound = db.prepare(RESUME_UNBOUND);
    this.#markResumed = db.prepare(MARK_RESUMED);
    this.#closeOpen = db.prepare<[string, string], string>(CLOSE_OPEN).pluck();
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
   *   answer was given for what the question no longer shows.
   * @throws DevsError `LEASE_LOST`
   */
  openForInterrupt(question: InterruptedQuestion, fence: Fence = NO_FENCE): OpenedSession {
    const columns = toColumns(question);
    return this.#write(() => {
      fence.assertInTx();
      if (question.visitId !== undefined) this.#adopt.run(columns);
      const cleared = this.#clearPlace.all(columns);
      const existing = this.findForQuestion(question);
      if (existing?.interruptId === question.interruptId || existing?.status === 'awaiting_approval')
        return { session: existing, opened: false, voided: [] };
      const opened = this.#bind.run(columns).changes === 0;
      if (opened) this.#insert.run({ ...columns, id: this.#newId(), graphStateJson: '{}', now: this.#now() });
      this.#supersedeOlder.run(columns);
      const withdrawn = [...cleared, ...this.#voidOlder.all(columns)].map((id) => this.require(id));
      const voided = withdrawn.filter(({ decision }) => decision !== null);
      return { session: this.#requireByInterrupt(question), opened, voided };
    });
  }

  /** Hands the sessions of a visit to the one that takes its place, with the answers they have. */
  carry({ interruptIds, sessionIds, ...where }: CarriedSessions): void {
    const lists = { interruptIds: JSON.stringify(interruptIds), sessionIds: JSON.stringify(sessionIds) };
    this.#carry.run({ ...where, ...lists });
  }

  /** Records a question before LangGraph suspends on it, or one that belongs to no run. */
  insertUnbound({ evidence, ...session }: UnboundSession): HitlSession {
    this.#insert.run({
      ...session,
      interruptId: null,
      questionKey: null,
      checkpointId: null,
      questionJson: null,
      evidenceJson: toJson(evidence),
      now: this.#now(),
    });
    return this.require(session.id);
  }

  find(id: string): HitlSession | null {
    return fromRow(this.#select.get(id));
  }

  /** @throws DevsError `GATE_NOT_FOUND` */
  require(id: string): HitlSession {
    return this.find(id) ?? notFound(id);
  }

  findByInterrupt(threadId: string, interruptId: string): HitlSession | null {
    return fromRow(this.#selectByInterrupt.get(threadId, interruptId));
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

  /** The oldest open session of a kind about a task, of this run or, with `null`, of none. */
  findOpenForTask(taskId: string, kind: HitlSessionKind, threadId: string | null): HitlSession | null {
    return fromRow(this.#selectOpenForTask.get(taskId, kind, threadId));
  }

  /** Open sessions, of one run or of all, oldest first. */
  listOpen(threadId?: string): readonly HitlSession[] {
    return (threadId === undefined ? this.#selectOpen.all() : this.#selectOpenOf.all(threadId)).map(
      toSession,
    );
  }

  /** Sessions that hold or claim to hold a decision, oldest first. */
  listAnswered(): readonly HitlSession[] {
    return this.#selectAnswered.all().map(toSession);
  }

  /** Answered sessions of a run and kind, oldest first. */
  listDecided(threadId: string, kind: HitlSessionKind): readonly HitlSession[] {
    return this.#selectDecided.all(threadId, kind).map(toSession);
  }

  /** Decisions recorded, for one run or for all. */
  countDecisions(threadId?: string): number {
    return this.#countDecisions.get({ threadId: threadId ?? null }) ?? 0;
  }

  /** Whether a human has decided something that was asked in the super-step after a checkpoint. */
  hasHumanDecisionAt(threadId: string, checkpointId: string): boolean {
    return this.#selectHumanAt.get(threadId, checkpointId) !== undefined;
  }

  /** The state a free-standing session was opened with, as JSON. @throws DevsError `GATE_NOT_FOUND` */
  graphStateJson(id: string): string {
    return this.#selectState.get(id) ?? notFound(id);
  }

  /** The one conditional write of a decision (law L2): true for exactly one caller. */
  decide({ id, artifactHash, decision, principal }: RecordedDecision): boolean {
    const { changes } = this.#decide.run({
      id,
      artifactHash,
      decisionJson: canonicalJson(decision),
      principalKind: principal.kind,
      principalId: principal.id,
      now: this.#now(),
    });
    return changes === 1;
  }

  /** Closes an open free-standing session: true for exactly one caller. */
  resumeUnbound(id: string): boolean {
    return this.#resumeUnbound.run(this.#now(), id).changes === 1;
  }

  /** Marks decided sessions whose interrupt LangGraph no longer lists as taken up; returns how many. */
  markResumed(threadId: string, openInterruptIds: readonly string[]): number {
    const values = { threadId, openInterruptIds: JSON.stringify(openInterruptIds), now: this.#now() };
    return this.#markResumed.run(values).changes;
  }

  /** Withdraws a run's open sessions, because it was set back or has ended; returns them. */
  supersedeOpen(threadId: string, as: 'superseded' | 'cancelled' = 'superseded'): readonly HitlSession[] {
    return this.#closeOpen.all(as, threadId).map((id) => this.require(id));
  }

  #requireByInterrupt({ threadId, interruptId }: InterruptedQuestion): HitlSession {
    return this.findByInterrupt(threadId, interruptId) ?? notFound(interruptId);
  }

  #write<T>(work: () => T): T {
    return immediately(this.#db, work);
  }
}

function toColumns({ question, evidence, visitId = '', ...columns }: InterruptedQuestion): object {
  return { ...columns, visitId, questionJson: toJson(question), evidenceJson: toJson(evidence) };
}

function toJson(value: unknown): string | null {
  return value === undefined || value === null ? null : canonicalJson(value);
}

function fromRow(row: SessionRow | undefined): HitlSession | null {
  return row === undefined ? null : toSession(row);
}

function toSession(row: SessionRow): HitlSession {
  const { questionJson, evidenceJson, decisionJson, principalKind, principalId, ...session } = row;
  return {
    ...session,
    question: parse(questionJson),
    evidence: parse(evidenceJson),
    decision: parse(decisionJson),
    principal: principalKind === null ? null : { kind: principalKind, id: principalId ?? '' },
  };
}

function parse(json: string | null): unknown {
  return json === null ? null : (JSON.parse(json) as unknown);
}

function notFound(id: string): never {
  throw new DevsError(`There is no session "${id}" in this state file.`, {
    code: 'GATE_NOT_FOUND',
    remedy: 'List the open gates to find the right id.',
    context: { sessionId: id },
  });
}
