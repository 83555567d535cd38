import { randomUUID } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { type Limits, validLimits } from '../../config/limits.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { type EventSink, orchestratorEvents } from '../../events/events.ts';
import { type Fence, NO_FENCE } from '../../state/commits/immediateTransaction.ts';
import type { RecordedDecision } from '../../state/gates/HitlSessionStore.ts';
import type { HiddenRecord, HitlSession, HitlSessionKind, Principal } from '../../state/gates/hitlSession.ts';
import type { StoreOptions } from '../../state/rows/rows.ts';
import { StateFile } from '../../state/StateFile.ts';
import { canonicalJson, hashOf } from '../../values/canonicalJson.ts';
import { lawOf } from '../execution/lawOf.ts';
import { assertQuoted, type QuotableSection, quotableSectionsIn } from './answerForms.ts';
import {
  assertDecidable,
  assertMayApprove,
  assertMayDecide,
  closed,
  isPassedDeadline,
  VoteCount,
} from './approvals.ts';
import {
  assertAnswerSize,
  ENGINE_GATES,
  type GateRules,
  isEdit,
  isKindOf,
  parseAnswer,
  ruleOf,
  summarizeDecision,
} from './engineGates.ts';
import { hiddenFrom, withPutBack } from './hiddenPlaces.ts';
import { principalOf, principalText } from './principals.ts';

export interface HumanInTheLoopManagerOptions extends StoreOptions {
  /** Defaults to the process-wide bus. */
  readonly events?: EventSink;
  /** The kinds of gates it opens and decides. @defaultValue those of any graph */
  readonly rules?: GateRules;
  /** How large answers may be. @defaultValue `DEFAULT_LIMITS` */
  readonly limits?: Partial<Limits>;
}

export interface PauseOptions {
  /** Defaults to `task_failure`. */
  readonly kind?: HitlSessionKind;
  /** The run the session belongs to; it is then answered with `decide`. Without it the session stands free. */
  readonly threadId?: string;
  /** SHA-256 (hex) of what is shown; defaults to the hash of the evidence. */
  readonly artifactHash?: string;
  /** Plain JSON: why the run paused. */
  readonly evidence?: unknown;
  /** Defaults to a new id. */
  readonly sessionId?: string;
  readonly fence?: Fence;
}

/** An open session. */
export type SuspendedSession = HitlSession;

/** A decider's answer, and what it was shown. */
export interface SessionDecision {
  /** SHA-256 (hex) of what was shown, or its first digits, at least 8. */
  readonly artifactHash: string;
  /** The answer of the session's kind. */
  readonly answer: unknown;
  readonly by: Principal;
  /** The way it is given, recorded with it: `page`, `command`, `file`, `program` or another short word. */
  readonly via?: string | undefined;
  /** When it was given, milliseconds since the Unix epoch, where that is not now. */
  readonly at?: number;
  /** Secrets that were taken out of the answer before it was given. @defaultValue 0 */
  readonly redacted?: number;
  /** Texts that are shown and that the session does not hold: code. They may be quoted in comments. */
  readonly places?: readonly QuotableSection[];
  /** How many places a human says yes to without having been shown what they hide. */
  readonly withHidden?: number | undefined;
  /** What is shown of code, as it is: what is hidden of it counts. */
  readonly code?: string | undefined;
  /** What was hidden, where it was asked for before: `null` for nothing. Then it is not asked for again. */
  readonly hidden?: HiddenRecord | null | undefined;
}

/**
 * Opens gates and records their answers. Each gate is answered once, by a person who saw its content (law L2). Source:
 * 9_ROADMAP-REQ-006.
 */
export class HumanInTheLoopManager<State = unknown> {
  readonly #file: StateFile;
  readonly #rules: GateRules;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #votes: VoteCount;
  readonly #limits: Limits;

  /** @param db - An open, migrated state file. */
  constructor(
    db: Database | StateFile,
    {
      events = orchestratorEvents,
      rules = ENGINE_GATES,
      limits,
      now = Date.now,
      newId = randomUUID,
    }: HumanInTheLoopManagerOptions = {},
  ) {
    this.#file = db instanceof StateFile ? db : new StateFile(db, { events, now, newId });
    this.#rules = rules;
    this.#limits = validLimits(limits);
    this.#now = now;
    this.#newId = newId;
    this.#votes = new VoteCount(this.#file);
  }

  /**
   * Records that a task waits for a person. Synchronous, in the caller's transaction if there is one; listeners are
   * notified after the commit. A second pause of a waiting task returns the first session.
   *
   * @param graphState - Stored only with a session without a run; a run has its checkpoints.
   * @throws DevsError `VALUE_NOT_STORABLE` if state or evidence is not plain JSON; `LEASE_LOST`.
   * @throws RangeError if `sessionId` is in use.
   *
   * @example
   * ```ts
   * const { id } = manager.pause(graphState, 'task-7');
   * // any day, any process:
   * const graphState = manager.resume(id);
   * ```
   */
  pause(graphState: State | undefined, taskId: string, options: PauseOptions = {}): SuspendedSession {
    if (typeof taskId !== 'string' || taskId === '')
      throw new TypeError(`Expected a task id, got ${taskId}.`);
    const { kind = 'task_failure', threadId = null, sessionId = this.#newId(), fence = NO_FENCE } = options;
    if (!isKindOf(this.#rules, kind)) throw new TypeError(`Expected a kind of gate, got ${kind}.`);
    const { evidence } = options;
    const artifactHash = options.artifactHash ?? (evidence === undefined ? null : hashOf(evidence));
    const graphStateJson = threadId === null ? stateJson(graphState) : '{}';
    const { sessions } = this.#file;
    return this.#file.commit((emit) => {
      fence.assertInTx();
      const open = sessions.findOpenForTask(taskId, kind, threadId);
      if (open !== null) return open;
      if (sessions.find(sessionId) !== null)
        throw new RangeError(`Session id "${sessionId}" is already used.`);
      emit('HITL_SESSION_OPENED', { sessionId, kind, taskId }, sessionScope({ threadId, taskId }));
      return sessions.insertUnbound({
        id: sessionId,
        taskId,
        kind,
        threadId,
        graphStateJson,
        artifactHash,
        evidence,
      });
    });
  }

  /**
   * Closes a session without a run and returns its state, once.
   *
   * @throws HitlSessionNotFoundError for an unknown id.
   * @throws DevsError `USE_DECIDE` if it belongs to a run; `GATE_ALREADY_DECIDED` if it was resumed before.
   */
  resume(sessionId: string): State {
    const { sessions } = this.#file;
    return this.#file.commit(() => {
      const session = sessions.find(sessionId);
      if (session === null) throw new HitlSessionNotFoundError(sessionId);
      if (session.threadId !== null) throw useDecide(session);
      if (!sessions.resumeUnbound(sessionId)) throw closed(session);
      this.#archiveFailureGate(session, 'resumed');
      return JSON.parse(sessions.graphStateJson(sessionId)) as State;
    });
  }

  /** Returns the open sessions of every kind, oldest first. */
  listPendingSessions(): readonly SuspendedSession[] {
    return this.#file.sessions.listOpen();
  }

  /**
   * Records the answer to a run's session and wakes the run. This is the only way to answer a gate: exactly one
   * decision is recorded, and only for the content that the person saw.
   *
   * With several approvers, an approval is a vote, and the last one is the decision. The same vote again changes
   * nothing.
   *
   * @returns The decided session; still `awaiting_approval` if more votes are needed.
   * @throws DevsError `GATE_NOT_FOUND`, `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`, `MAY_NOT_APPROVE`,
   *   `INVALID_ANSWER`, `FEEDBACK_REQUIRED`, `GATE_ALREADY_DECIDED` (with the recorded decision), `GATE_NOT_READY`,
   *   `GATE_STALE`, `ALREADY_VOTED`, for an edited plan `DAG_INVALID`, for a comment `QUOTE_NOT_SHOWN`, for an unread
   *   approval `GATE_HIDDEN`; checked in this order, and the session is unchanged then.
   * @throws TypeError for an invalid `via` or `withHidden`.
   */
  decide(sessionId: string, decision: SessionDecision): HitlSession {
    const { artifactHash, answer, by: given, via, at = this.#now(), redacted = 0, places = [] } = decision;
    const by = principalOf(given);
    assertWay(via);
    if (typeof artifactHash !== 'string')
      throw new TypeError(`Expected artifactHash as text, got ${artifactHash}.`);
    const { sessions, threads, waits } = this.#file;
    const session = sessions.require(sessionId);
    const rules = this.#rules;
    const thread = session.threadId === null ? null : threads.get(session.threadId);
    if (!isPassedDeadline(by, session, { answer, waits })) {
      assertMayDecide(by, session, { rules, thread });
      assertMayApprove(by, session);
    }
    const parsed = this.#parsed(session, decision);
    const wholeHash = assertDecidable(session, artifactHash);
    const rule = ruleOf(rules, session.kind);
    const { value: scrubbed, count } = rule.scrub?.(parsed) ?? { value: parsed, count: 0 };
    const whole = withPutBack(parsed, scrubbed, session);
    rule.assertFits?.(whole, session, by);
    assertQuoted(whole, session, () => [...quotableSectionsIn(session, rule.places), ...places]);
    const hidden = this.#hiddenFrom(session, { ...decision, answer: whole, by });
    const said = rule.toRecord?.(whole) ?? whole;
    return this.#file.commit((emit) => {
      const vote = { answer: said, artifactHash: wholeHash, by, at, hidden };
      const counted = this.#votes.count(session, vote, lawOf(thread));
      const { decision: answered, isNew } = counted;
      const about = { id: sessionId, artifactHash: wholeHash, principal: by, via, hidden, at };
      const decided = answered === null ? null : this.#recordDecision({ ...about, decision: answered });
      if (isNew && count + redacted > 0)
        emit(
          'SECRET_REDACTED',
          { place: `decision ${sessionId}`, count: count + redacted },
          sessionScope(session),
        );
      // Of a vote, too: whoever passes it on says what its voter knew.
      return { ...(decided ?? sessions.require(sessionId)), ...(hidden !== undefined && { hidden }) };
    });
  }

  /** Publishes events of sessions whose transaction is committed now. */
  announce(): void {
    this.#file.outbox.flush();
  }

  #parsed(session: HitlSession, { answer, at }: SessionDecision): object {
    const { id, kind } = session;
    const { read } = ruleOf(this.#rules, kind);
    const parsed = parseAnswer(this.#rules, kind, read === undefined ? answer : read(answer, session));
    // What was given elsewhere was measured there.
    if (at === undefined) assertAnswerSize(parsed, id, this.#limits);
    return parsed;
  }

  #hiddenFrom(
    session: HitlSession,
    { hidden, ...deciding }: Omit<SessionDecision, 'answer'> & { readonly answer: object },
  ): HiddenRecord | undefined {
    return hidden === undefined ? hiddenFrom(session, deciding, this.#file.log) : (hidden ?? undefined);
  }

  #recordDecision(given: RecordedDecision & { readonly decision: object }): HitlSession {
    const { sessions, threads, decisions, outbox } = this.#file;
    const { id: sessionId, decision: answer, principal, via, hidden } = given;
    const session = sessions.decide(given, (said) => decisions.record(said));
    if (session === null) throw closed(sessions.require(sessionId)); // another process won since the check
    const { kind, threadId } = session;
    if (threadId !== null) {
      threads.signal(threadId, {
        id: `decision:${sessionId}`,
        kind: 'decision',
        payload: { sessionId },
      });
    }
    this.#archiveFailureGate(session, 'action' in answer ? String(answer.action) : 'decided', given.at);
    const payload = {
      sessionId,
      kind,
      principal: principalText(principal),
      ...(via !== undefined && { via }),
      ...(hidden !== undefined && { hidden }),
      ...((isEdit(answer) || 'edit' in answer) && { edited: true as const }),
      ...summarizeDecision(answer),
    };
    outbox.record('HITL_SESSION_DECIDED', payload, sessionScope(session));
    return session;
  }

  #archiveFailureGate(
    { id, kind, taskId }: HitlSession,
    resolution: string,
    resolvedAt: number = this.#now(),
  ): void {
    if (kind !== 'task_failure') return;
    this.#file.failureGates.archive(taskId, { resolution, resolvedAt, sessionId: id });
  }
}

/** Of a way to decide: it stands in lists and logs. */
const WAY = /^[a-z][a-z0-9-]{0,31}$/;

function assertWay(via: unknown): void {
  if (via === undefined || (typeof via === 'string' && WAY.test(via))) return;
  throw new TypeError('`via` must be a word such as page, command, file or program.');
}

function stateJson(graphState: unknown): string {
  return graphState === undefined ? '{}' : canonicalJson(graphState);
}

function sessionScope({ threadId, taskId }: Pick<HitlSession, 'threadId' | 'taskId'>) {
  return { taskId, ...(threadId !== null && { threadId }) };
}

function useDecide({ id }: HitlSession): DevsError {
  return new DevsError(`Session "${id}" belongs to a run and cannot be resumed directly.`, {
    code: 'USE_DECIDE',
    remedy: 'Call decide() with the hash of the session. The run applies the decision when it is resumed.',
    context: { sessionId: id },
  });
}

/** `resume` was given an id this state file does not have. Code `GATE_NOT_FOUND`. */
export class HitlSessionNotFoundError extends DevsError {
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(`There is no gate "${sessionId}" in this state file.`, {
      code: 'GATE_NOT_FOUND',
      remedy: 'List the open gates to find the right id.',
      context: { sessionId },
    });
    this.sessionId = sessionId;
  }
}
