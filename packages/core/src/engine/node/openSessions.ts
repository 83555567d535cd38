import {
  GraphInterrupt,
  getConfig,
  type Interrupt,
  isGraphInterrupt,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph';
import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { type NewEvent, newEventsOf } from '../../events/events.ts';
import type { OpenedSession } from '../../state/gates/HitlSessionStore.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';
import {
  breakpointId,
  dueBreakpoint,
  type InnerBreakpoint,
  type InnerBreakpoints,
  namespacePath,
  nextNodes,
  ownValues,
} from '../breakpoints/Breakpoint.ts';
import type { NodeExecution } from '../execution/nodeExecution.ts';
import type { CommentTally } from '../gates/answerForms.ts';
import { deadlineWaits } from '../gates/approvals.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { principalText } from '../gates/principals.ts';
import {
  bareQuestion,
  isEngineQuestion,
  isFrameQuestion,
  type Question,
  sessionForQuestion,
} from '../gates/question.ts';
import type { NodeEngine } from '../graph/NodeEngine.ts';
import { type GuardFinding, type GuardLevel, guardEvidence, guardFact } from '../guards/lattice.ts';
import { budgetLevel, type ScopedUse } from '../guards/RunBudgets.ts';
import { isWaitQuestion } from '../waits/waits.ts';
import { MOST_REFUSALS, type RefusedCall, refusedCallIn } from './askDeclared.ts';
import { depthLevel, depthOf } from './depth.ts';

/**
 * Records the questions a node is about to leave with, one session each; returns them with their ids. The only
 * place where sessions of a run are opened: a session exists before LangGraph knows the interrupt, and a repeated
 * execution of the same visit has the same interrupt id, so it finds its session again.
 */
export function openSessions<State extends object>(
  left: readonly Interrupt[],
  state: State,
  visit: NodeExecution,
  engine: NodeEngine<State>,
): Interrupt[] {
  const { runs, store, profile, maxDepth } = engine;
  const interrupts = left.map(withId(visit));
  const taskId = profile.projectIdOf(state, visit.threadId);
  const asked = interrupts.flatMap(({ id, value, response_schema: responseSchema }) => {
    if (id === undefined || isFrameQuestion(value) || isWaitQuestion(value)) return [];
    const question = isEngineQuestion(value) ? value : bareQuestion({ id, value, responseSchema }, taskId);
    return [{ id, question }];
  });
  if (store === null || visit.epoch === null) {
    for (const { question } of asked) notifyOfLimit(question, state, visit, engine);
    return interrupts;
  }
  const depth = depthLevel(depthOf(state, visit, maxDepth), visit);
  runs.suspend(
    visit,
    asked.map(({ id, question }) => ({
      question: sessionForQuestion(question, id, visit, tallied(question, visit, store)),
      facts: (opened) => factsAbout(question, opened, { visit, depth }),
      waits: deadlineWaits,
    })),
  );
  return interrupts;
}

/** Recorded beside what is shown: a list of gates of many runs tells it without opening one. */
function tallied(
  { kind, artifact }: Question,
  { threadId }: NodeExecution,
  { rules, sessions }: EngineStore,
): CommentTally | null {
  return rules[kind]?.tally?.({ threadId, artifact }, sessions) ?? null;
}

interface AskedIn {
  readonly visit: NodeExecution;
  readonly depth: GuardLevel;
}

function factsAbout(
  question: Question,
  { session, opened, voided, refused }: OpenedSession,
  { visit, depth }: AskedIn,
): readonly NewEvent[] {
  const { kind, taskId, masked = 0 } = question;
  const scope = { threadId: visit.threadId, taskId };
  const found = findingsAt(question, session.id, depth).map((finding) => guardFact(finding, scope));
  const told = newEventsOf((emit) => {
    for (const answer of voided.flatMap((one) => voidedAnswers(one, question)))
      emit('HITL_ANSWER_VOIDED', answer, scope);
    if (refused?.principal) {
      const { id: sessionId, principal } = refused;
      emit('HITL_ANSWER_REFUSED', { sessionId, kind, principal: principalText(principal) }, scope);
    }
  });
  const begun = newEventsOf((emit) => {
    emit('HITL_SESSION_OPENED', { sessionId: session.id, kind, taskId }, scope);
    if (kind === 'recursion_limit' && refusedCallIn(question) === null)
      emit('RECURSION_LIMIT_REACHED', depthIn(question), scope);
    if (masked > 0) emit('SECRET_REDACTED', { place: `question of ${visit.node}`, count: masked }, scope);
  });
  return [...told, ...found, ...(opened ? begun : [])];
}

/** One for each who answered: several may have voted. */
function voidedAnswers(session: HitlSession, { artifactHash: shows }: Question) {
  const { id: sessionId, kind, principal, votes = [] } = session;
  const artifactHash = session.artifactHash ?? '';
  const answered = new Set(
    [...votes.map((vote) => vote.principal), ...(principal === null ? [] : [principal])].map(principalText),
  );
  return [...answered].map((by) => ({ sessionId, kind, principal: by, artifactHash, shows }));
}

/** What a node throws by hand has no id: it gets one of its visit and place, the same in every execution. */
function withId({ lgTaskId, frame }: NodeExecution): (asked: Interrupt, at: number) => Interrupt {
  const place = interruptsBefore();
  return (asked, at) =>
    asked.id === undefined
      ? { ...asked, id: sha256Hex(`thrown/${frame}/${lgTaskId}/${place + at}`).slice(0, 32) }
      : asked;
}

/** How many calls of `interrupt()` have returned in this execution. LangGraph counts them from −1. */
function interruptsBefore(): number {
  const { configurable } = (getConfig() as { configurable?: Record<string, unknown> } | undefined) ?? {};
  const scratchpad = configurable?.['__pregel_scratchpad'] as
    | { readonly interruptCounter?: number }
    | undefined;
  return (scratchpad?.interruptCounter ?? -1) + 1;
}

/** In plain LangGraph use only the depth guard leaves a session: free-standing, with the state it stopped at. */
function notifyOfLimit<State extends object>(
  question: Question,
  state: State,
  visit: NodeExecution,
  { store, events, maxDepth }: NodeEngine<State>,
): void {
  const { kind, key, taskId, artifact } = question;
  if (kind !== 'recursion_limit') return;
  events.emit('RECURSION_LIMIT_REACHED', depthIn(question), { taskId });
  const level = depthLevel(depthOf(state, visit, maxDepth), visit);
  events.emit('GUARD_TRIPPED', guardEvidence(level), { taskId });
  store?.manager.pause(state, taskId, { kind, sessionId: key, evidence: artifact });
}

function passedLevel(artifact: unknown): GuardLevel {
  const { limits } = artifact as { readonly limits: readonly [ScopedUse] };
  const [first] = limits;
  const level = budgetLevel(first, first.spent + first.reserved);
  return { ...level, evidence: { limits } };
}

/** The depth guard speaks where it asks, and where the failure gate above it asks first. */
function findingsAt(question: Question, episode: string, depth: GuardLevel): readonly GuardFinding[] {
  const { kind, artifact } = question;
  const refused = refusedCallIn(question);
  if (refused !== null) return [{ event: 'GUARD_TRIPPED', level: refusedLevel(refused, episode) }];
  if (kind === 'recursion_limit') return [{ event: 'GUARD_TRIPPED', level: { ...depth, episode } }];
  if (kind === 'budget') return [{ event: 'GUARD_TRIPPED', level: { ...passedLevel(artifact), episode } }];
  if (kind !== 'task_failure' || depth.level < depth.limit) return [];
  return [{ event: 'GUARD_SUPPRESSED', level: { ...depth, episode } }];
}

function refusedLevel({ tool, args, refusals: level }: RefusedCall, episode: string): GuardLevel {
  return { measure: 'refused_call', level, limit: MOST_REFUSALS, episode, evidence: { tool, args } };
}

function depthIn({ artifact }: Question): { readonly depth: number; readonly limit: number } {
  return artifact as { depth: number; limit: number };
}

interface Inside {
  readonly store: EngineStore | null;
  readonly breakpoints?: InnerBreakpoints;
}

/** A graph inside a node, at its latest checkpoint. */
interface InnerCheckpoint {
  readonly thread: string;
  readonly checkpointNs: string;
  readonly tuple: CheckpointTuple;
}

/**
 * What a node is left with: where a graph inside it stands at a breakpoint, LangGraph's interrupt says nothing, and is
 * given a question for each such graph. Where another question was asked beside, that one goes first.
 */
export async function withInnerBreakpoints(
  error: unknown,
  config: LangGraphRunnableConfig,
  visit: NodeExecution,
  { store, breakpoints = new Map() }: Inside,
): Promise<unknown> {
  if (!isGraphInterrupt(error) || error.interrupts.length > 0) return error;
  const saver = config.configurable?.['__pregel_checkpointer'] as BaseCheckpointSaver | undefined;
  if (store === null || saver === undefined || visit.epoch === null) return error;
  const all = await innerCheckpointIn(config, visit, { store, saver });
  const innermost = all.filter((one) => !all.some((other) => isInsideOf(other, one)));
  const due = innermost.filter(({ tuple }) => nextNodes(tuple.checkpoint).length > 0);
  const stopped = due.length > 0 ? due : innermost.slice(-1);
  return new GraphInterrupt(
    await Promise.all(stopped.map((one) => interruptAt(one, { saver, breakpoints }))),
  );
}

/** The graphs that have begun in this visit and are in the middle of nothing, in the order of their checkpoints. */
async function innerCheckpointIn(
  { configurable = {} }: LangGraphRunnableConfig,
  { threadId, frame, node, checkpointId }: NodeExecution,
  { store, saver }: { readonly store: EngineStore; readonly saver: BaseCheckpointSaver },
): Promise<readonly InnerCheckpoint[]> {
  const since = store.checkpoints.findSeq(checkpointId ?? '', frame) ?? 0;
  // A graph with `checkpointer: true` is kept without the ids of the tasks.
  const names = [...new Set([String(configurable['checkpoint_ns']), node])];
  const within = [frame, ...store.innerThreads.of(threadId)].flatMap((thread) =>
    names.flatMap((checkpointNs) =>
      store.checkpoints
        .namespacesWithin({ threadId: thread, checkpointNs })
        .filter(({ seq }) => seq > since)
        .map((inside) => ({ ...inside, thread })),
    ),
  );
  const tuples = await Promise.all(
    within
      .toSorted((one, other) => one.seq - other.seq)
      .map(async ({ thread, checkpointNs }) => {
        const at = { thread_id: thread, checkpoint_ns: checkpointNs };
        return { thread, checkpointNs, tuple: await saver.getTuple({ configurable: at }) };
      }),
  );
  return tuples.filter(
    (one): one is InnerCheckpoint => one.tuple !== undefined && (one.tuple.pendingWrites ?? []).length === 0,
  );
}

/** Whether a graph was begun by a task that starts from the checkpoint at which another one stands. */
function isInsideOf({ tuple }: InnerCheckpoint, { checkpointNs, tuple: outer }: InnerCheckpoint): boolean {
  return tuple.metadata?.parents?.[checkpointNs] === outer.checkpoint.id;
}

async function interruptAt(
  { thread, checkpointNs, tuple }: InnerCheckpoint,
  { saver, breakpoints }: { readonly saver: BaseCheckpointSaver; readonly breakpoints: InnerBreakpoints },
): Promise<Interrupt<InnerBreakpoint>> {
  const graph = namespacePath(checkpointNs);
  const next = nextNodes(tuple.checkpoint);
  const known = breakpoints.get(graph.join('|'));
  const parent = tuple.parentConfig && (await saver.getTuple(tuple.parentConfig));
  const due = known === undefined ? null : dueBreakpoint(known, { tuple, parent });
  const at = { thread, checkpointNs, step: tuple.metadata?.step ?? 0 };
  const breakpoint = { graph, ...(due ?? { nodes: next }), next };
  return { id: breakpointId(at), value: { breakpoint, values: ownValues(tuple.checkpoint), at } };
}
