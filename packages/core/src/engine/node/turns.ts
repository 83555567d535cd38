import { type Fact, factsOf } from '../../events/Fact.ts';
import type { VisitTurn } from '../../state/RunStore.ts';
import type { TurnType } from '../../state/types.ts';
import { type Depth, depthWarnings } from '../guards/depthLevel.ts';
import { type GuardFinding, type GuardLevel, guardFact } from '../guards/GuardLevel.ts';
import { wordsOf } from '../thrown.ts';
import type { Visit } from '../visit.ts';
import { fieldsOf, mergedState } from './mergedState.ts';
import type { NodeOutput } from './nodeOutput.ts';
import type { RunnerDeps } from './RunnerDeps.ts';

export interface BegunTurn<State> {
  readonly state: State;
  readonly depth: Depth;
}

/** Before the work: fence, event and the journal's Thought in one transaction. */
export function recordThought<State extends object>(
  visit: Visit,
  { state, depth }: BegunTurn<State>,
  deps: RunnerDeps<State>,
): void {
  const scope = scopeOf(visit, state, deps);
  const payload = { node: visit.node, attempt: visit.attempt };
  const started: Fact = { name: 'NODE_STARTED', payload, scope };
  const facts = [started, ...depthWarnings(depth, visit, scope)];
  deps.runs.enter(visit, turnOf('Thought', { visit, state, facts }, deps));
}

export interface FinishedTurn<State> {
  readonly before: State;
  readonly output: NodeOutput;
  readonly startedAt: number;
  /** What guards found in the node's output. */
  readonly findings: readonly GuardFinding[];
}

/** After the work: fence, events and the journal's Action, in the transaction of what LangGraph writes of the task. */
export function recordAction<State extends object>(
  visit: Visit,
  { before, output, startedAt, findings }: FinishedTurn<State>,
  deps: RunnerDeps<State>,
): void {
  const state = mergedState(before, output.update);
  const durationMs = deps.now() - startedAt;
  const scope = scopeOf(visit, state, deps);
  const changes = factsOf((emit) => deps.profile.announce(before, state, emit, scope));
  const finished: Fact = { name: 'NODE_FINISHED', payload: { node: visit.node, durationMs }, scope };
  const facts = [...changes, ...findings.map((finding) => guardFact(finding, scope)), finished];
  deps.runs.leave(visit, turnOf('Action', { visit, state, facts }, deps));
}

/** A node threw: an event that says whether it is tried again. */
export function recordFailure<State>(
  error: unknown,
  visit: Visit,
  { runs, profile }: RunnerDeps<State>,
): void {
  const { node, attempt, threadId, lgTaskId } = visit;
  const scope = { threadId };
  const { message } = wordsOf(error);
  if (profile.willRetry(error, attempt)) {
    runs.note(visit, [{ name: 'RETRIED', payload: { node, attempt, message }, scope }]);
    return;
  }
  const level: GuardLevel = {
    measure: 'attempts',
    level: attempt,
    limit: attempt,
    episode: lgTaskId,
    evidence: { node, message },
  };
  const isSpent = attempt > 1 && profile.willRetry(error, attempt - 1);
  runs.note(visit, [
    { name: 'NODE_FAILED', payload: { node, message }, scope },
    ...(isSpent ? [guardFact({ event: 'GUARD_TRIPPED', level }, scope)] : []),
  ]);
}

interface Told<State> {
  readonly visit: Visit;
  readonly state: State;
  readonly facts: readonly Fact[];
}

function turnOf<State extends object>(
  turnType: TurnType,
  { visit, state, facts }: Told<State>,
  { profile, newId, now }: RunnerDeps<State>,
): VisitTurn {
  const { threadId, node, lgTaskId } = visit;
  const taskId = profile.taskIdOf(state, node);
  const entry = {
    id: newId(),
    graphId: threadId,
    nodeName: node,
    turnType,
    state: fieldsOf(state),
    taskId: taskId ?? profile.projectIdOf(state, threadId),
    createdAt: new Date(now()),
    visit: lgTaskId,
  };
  return { entry, taskId, facts };
}

const scopeOf = <State>({ threadId, node }: Visit, state: State, { profile }: RunnerDeps<State>) => ({
  threadId,
  taskId: profile.taskIdOf(state, node),
});
