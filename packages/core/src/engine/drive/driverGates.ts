// The open gates of a run. The driver asks at a breakpoint, and about a suspension of the last node. It reads recorded decisions,
// the policy of the run, and deadlines.

import { Command } from '@langchain/langgraph';
import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import type { EventSink } from '../../events/events.ts';
import type { FencedLease } from '../../state/commits/immediateTransaction.ts';
import type { InterruptedQuestion } from '../../state/gates/HitlSessionStore.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { RunStore } from '../../state/RunStore.ts';
import type { Lease, Policies } from '../../state/threads/threadRecords.ts';
import type { Wait } from '../../state/threads/WaitStore.ts';
import { showableValues as plainValues } from '../../values/showable.ts';
import {
  type Breakpoint,
  type Breakpoints,
  breakpointMessage,
  dueBreakpoint,
  isInnerBreakpoint,
  isRejection,
  rejectedReason,
  stopsSomewhere,
} from '../breakpoints/Breakpoint.ts';
import { guardsOf } from '../execution/nodeExecution.ts';
import { commentsOf } from '../gates/answerForms.ts';
import { DEADLINE, deadlineAnswer, deadlineOf, declaredPolicy } from '../gates/approvals.ts';
import { allowsPlainYes, type Deadline } from '../gates/DeclaredGate.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { type AnswerTo, answerWithAuthor, type GateRules, type interruptGate } from '../gates/engineGates.ts';
import {
  askedId,
  bareKey,
  bareQuestion,
  type DeliveredAnswer,
  exactAnswers,
  isQuestion,
  type Question,
  questionAbout,
  sessionForQuestion,
} from '../gates/question.ts';
import { stuckMessage, suspensionArtifact } from '../graph/NodeEngine.ts';
import type { PendingQuestion } from '../saver/openQuestions.ts';
import type { Engine } from './Engine.ts';

/** The session of a question that no node asks: the driver does, and it is told where it was not asked before. */
export function openGateSession(
  question: InterruptedQuestion,
  lease: FencedLease,
  runs: Pick<RunStore, 'ask'>,
): HitlSession {
  const [session] = runs.ask(lease, [
    {
      question,
      facts: ({ session: { id: sessionId, kind, taskId, threadId }, opened }) => {
        const scope = { taskId, ...(threadId !== null && { threadId }) };
        return opened ? [{ name: 'HITL_SESSION_OPENED', payload: { sessionId, kind, taskId }, scope }] : [];
      },
    },
  ]);
  return session as HitlSession;
}

/**
 * The session of a suspension that the last node of an own graph raised. No node is left whose entry could ask, so
 * the question is bound to the last checkpoint instead of an interrupt; `null` when there is none.
 */
export function questionAtEnd(
  { config, checkpoint }: CheckpointTuple,
  lease: FencedLease,
  store: EngineStore,
): HitlSession | null {
  const { pendingSuspension } = guardsOf(checkpoint.channel_values);
  if (!pendingSuspension) return null;
  const { sessionId, kind, taskId } = pendingSuspension;
  const question = questionAbout(suspensionArtifact(pendingSuspension), {
    kind,
    key: sessionId,
    taskId,
    message: stuckMessage(pendingSuspension),
  });
  const checkpointId = String(config.configurable?.['checkpoint_id']);
  const { threadId } = lease;
  return openGateSession(
    sessionForQuestion(question, `end/${checkpointId}`, { threadId, checkpointId }),
    lease,
    store.runs,
  );
}

interface StoppedRun {
  readonly lease: FencedLease;
  readonly tuple: CheckpointTuple;
  /** The tasks of the next super-step. */
  readonly tasks: readonly { readonly id: string; readonly name: string }[];
  readonly values: unknown;
}

/** What stands for the interrupt of a stop: LangGraph has none for its own. */
export const breakpointKey = ({ checkpoint }: CheckpointTuple): string => `stop/${checkpoint.id}`;

/**
 * The session of the stop that a run stands at, answered or not; `null` where it stands at none. A stop that it is past,
 * because a task of the next super-step has begun, is not asked.
 */
export async function questionAtBreakpoint(
  run: StoppedRun,
  engine: Pick<Engine, 'breakpoints' | 'saver' | 'store'>,
): Promise<HitlSession | null> {
  const { lease, tuple } = run;
  const { store, saver, breakpoints } = engine;
  const known = store.sessions.findByInterrupt(lease.threadId, breakpointKey(tuple));
  if (known !== null) return known;
  if (!stopsSomewhere(breakpoints) || hasBegun(run, store)) return null;
  const parent = tuple.parentConfig && (await saver.getTuple(tuple.parentConfig));
  const question = breakpointQuestion({ ...run, threadId: lease.threadId, parent }, breakpoints);
  return question === null ? null : openGateSession(question, lease, store.runs);
}

/** The question at a compiled breakpoint, or `null`. Pure. */
export function breakpointQuestion(
  {
    threadId,
    tuple,
    parent,
    tasks,
    values,
  }: Omit<StoppedRun, 'lease'> & {
    readonly threadId: string;
    readonly parent: CheckpointTuple | undefined;
  },
  breakpoints: Breakpoints,
): InterruptedQuestion | null {
  const next = [...new Set(tasks.map(({ name }) => name))];
  const due = dueBreakpoint(breakpoints, { tuple, parent, next });
  if (due === null) return null;
  const stop: Breakpoint = {
    breakpoint: { graph: [], ...due, next },
    values: plainValues((values ?? {}) as object),
  };
  const about = { kind: 'interrupt', key: `stop/${threadId}`, taskId: threadId } as const;
  const question = questionAbout(stop, { ...about, message: breakpointMessage(stop) });
  return sessionForQuestion(question, breakpointKey(tuple), { threadId, checkpointId: tuple.checkpoint.id });
}

function hasBegun({ lease: { threadId }, tuple, tasks }: StoppedRun, { steps }: EngineStore): boolean {
  const written = new Set((tuple.pendingWrites ?? []).map(([taskId]) => taskId));
  return tasks.some(({ id }) => written.has(id) || steps.hasVisit(threadId, id));
}

/** A recorded decision on its way to the interrupt it answers. */
interface GivenAnswer {
  readonly interruptId: string;
  readonly session: HitlSession;
  /** What LangGraph is resumed with: keyed, but for a bare `interrupt()`, which returns it. */
  readonly resume: unknown;
  /**
   * LangGraph has stored it: its node took it and then failed or was stopped. Or nobody waits for it: an answer about
   * a call is read anew by every execution. A bare value is not told from an equal one; it is given again, see `resumeCommand`.
   */
  readonly isDelivered: boolean;
  /** Set when the decision ends the run instead of reaching its node. */
  readonly endsRun: string | null;
}

interface ReadAnswers {
  readonly given: readonly GivenAnswer[];
  readonly unanswered: readonly HitlSession[];
}

/**
 * Pairs open questions with recorded decisions. The runner records the session of a question before LangGraph knows it;
 * one without was asked on an edge, outside of every node, by whoever wrote the graph. It gets its session here.
 */
export function readAnswers(
  open: readonly PendingQuestion[],
  lease: FencedLease,
  store: EngineStore,
): ReadAnswers {
  const given: GivenAnswer[] = [];
  const unanswered: HitlSession[] = [];
  for (const question of open) {
    const session = sessionFor(question, lease, store);
    if (session.decision !== null) given.push(givenAnswer(question, session, store.rules));
    else if (!unanswered.some(({ id }) => id === session.id)) unanswered.push(session);
  }
  return { given, unanswered };
}

function sessionFor(
  { interruptId, value, responseSchema, checkpointId }: PendingQuestion,
  lease: FencedLease,
  store: EngineStore,
): HitlSession {
  const { threadId } = lease;
  // Branches side by side ask for a guard once: only the key tells its session.
  const questionKey = isQuestion(value, store.rules) ? value.key : bareKey(interruptId);
  const known = store.sessions.findForQuestion({ threadId, interruptId, questionKey });
  if (known !== null) return known;
  const question = bareQuestion({ id: interruptId, value, responseSchema }, threadId);
  return openGateSession(
    sessionForQuestion(question, interruptId, { threadId, checkpointId }),
    lease,
    store.runs,
  );
}

function givenAnswer(
  { interruptId, value, received }: PendingQuestion,
  session: HitlSession,
  rules: GateRules,
): GivenAnswer {
  if (session.kind === 'interrupt') {
    const { value: resume } = session.decision as AnswerTo<typeof interruptGate>;
    const isRefused = isInnerBreakpoint(interruptId, value) && isRejection(session.decision);
    const endsRun = isRefused ? rejectedReason(session.question) : null;
    return { interruptId, session, resume, isDelivered: false, endsRun };
  }
  const answer = answerWithAuthor(session);
  const sessionId = session.id;
  const asked = isQuestion(value, rules) && value.key === session.questionKey ? value : null;
  // Without a key: a bare `interrupt()` that was asked for a yes or no, by an earlier release.
  const resume = asked === null ? { ...answer, sessionId } : deliveredAnswer(session, asked, answer);
  const isDelivered = isReadAnew(session) || received.some((stored) => isAnswerOf(sessionId, stored));
  return { interruptId, session, resume, isDelivered, endsRun: reasonToEnd(asked, answer) };
}

function deliveredAnswer(
  { id, artifactHash }: HitlSession,
  { key }: Question,
  value: unknown,
): DeliveredAnswer {
  return { for: key, ...(artifactHash !== null && { hash: artifactHash }), value, sessionId: id };
}

/** What was asked before a call is read from the recorded decisions: the node that asked only has to run again. */
const isReadAnew = ({ interruptId, questionKey }: HitlSession): boolean =>
  questionKey !== null && interruptId === askedId(questionKey);

function isAnswerOf(sessionId: string, stored: unknown): boolean {
  return (stored as Partial<DeliveredAnswer> | null)?.sessionId === sessionId;
}

function reasonToEnd(asked: Question | null, answer: Readonly<Record<string, unknown>>): string | null {
  const aborted = abortReason(answer);
  if (aborted !== null) return aborted;
  const rejected = answer['approved'] === false;
  if (!rejected || asked?.endsOnRejection !== true) return null;
  return `rejected: ${String(answer['feedback'] ?? commentsOf(answer)[0]?.text ?? 'no reason given')}`;
}

/** Why a run ends whose human answered `abort`; `null` for any other answer. */
export function abortReason(answer: unknown): string | null {
  const { action, reason } = (answer ?? {}) as { readonly action?: unknown; readonly reason?: string };
  if (action !== 'abort') return null;
  return reason === undefined ? 'aborted by a human' : `aborted by a human: ${reason}`;
}

/** What LangGraph is resumed with: `null`, which only goes on, when it has every answer already. */
export function resumeCommand(given: readonly GivenAnswer[]): Command | null {
  const fresh = given.filter(({ isDelivered }) => !isDelivered);
  if (fresh.length === 0) return null;
  const answers = Object.fromEntries(fresh.map(({ interruptId, resume }) => [interruptId, resume]));
  const shown = fresh.flatMap(({ interruptId, session: { kind, artifactHash } }) =>
    kind === 'interrupt' ? [[interruptId, artifactHash ?? ''] as const] : [],
  );
  return new Command({ resume: exactAnswers(answers, new Map(shown)) });
}

/** Who answers a gate of the pipeline: declared when a run starts, part of its record. */
export interface GatePolicies {
  readonly design?: GatePolicy;
  readonly dag?: GatePolicy;
  /** Of code, where the run has it reviewed. */
  readonly review?: GatePolicy;
}

/** `auto`: approves every proposal. `quick`: filled in by the engine for small work, and approved. */
type GatePolicy = 'human' | 'auto' | 'quick';

/** Approves the gates a declared policy covers. Returns whether it decided anything. */
export function decideByPolicy(
  open: readonly HitlSession[],
  policies: Policies,
  store: EngineStore,
): boolean {
  let decided = false;
  for (const { id, kind, artifactHash, question } of open) {
    if (!allowsPlainYes({ question })) continue;
    const policy = declaredPolicy(policies, store.rules[kind]);
    if (policy === null) continue;
    store.manager.decide(id, {
      artifactHash: artifactHash ?? '',
      answer: { approved: true },
      by: { kind: 'policy', id: policy === 'auto' ? `${kind}=auto` : policy },
    });
    decided = true;
  }
  return decided;
}

interface Passing {
  readonly lease: Lease;
  readonly store: EngineStore;
  /** Milliseconds since the Unix epoch: what is due by then has passed. */
  readonly now: number;
}

/** The deadlines of the gates that a run waits at. */
interface GateDeadlines {
  readonly pending: readonly Wait[];
  /** Whether something was done about one. */
  readonly hasPassed: boolean;
}

/**
 * Does what the run was started with about gates that nobody has decided in time: once, in one transaction with the end of
 * the deadline, so that neither a reminder nor a decision is lost or comes twice.
 */
export function applyDeadlines(open: readonly HitlSession[], { lease, store, now }: Passing): GateDeadlines {
  const ids = open.map(({ id }) => id);
  const all = ids.length === 0 ? [] : store.waits.deadlines(lease.threadId, ids);
  const pending = all.filter(({ state }) => state === 'pending');
  const due = pending.filter(({ dueAt }) => dueAt !== null && dueAt <= now);
  if (due.length === 0) return { pending, hasPassed: false };
  store.commitUnder(lease, (emit) => {
    for (const wait of due) {
      const session = store.sessions.require(wait.place);
      const isOpen = session.status === 'awaiting_approval'; // nobody was faster
      if (isOpen && store.waits.fire(wait, now)) pass(deadlineOf(wait, session), session, { store, emit });
    }
  });
  return { pending: [], hasPassed: true };
}

function pass(
  deadline: Deadline,
  { id: sessionId, kind, threadId, taskId, artifactHash }: HitlSession,
  { store, emit }: { readonly store: EngineStore; readonly emit: EventSink['emit'] },
): void {
  const { within, do: act } = deadline;
  const scope = { taskId, ...(threadId !== null && { threadId }) };
  if (act === 'remind') emit('GATE_REMINDED', { sessionId, kind, within }, scope);
  else if (typeof act === 'object')
    emit('GATE_REASSIGNED', { sessionId, kind, within, to: act.reassign }, scope);
  else {
    const answer = deadlineAnswer(deadline);
    store.manager.decide(sessionId, { artifactHash: artifactHash ?? '', answer, by: DEADLINE });
  }
}
