import { type NewEvent, newEventsOf } from '../../events/EventBus.ts';
import type { NodeTurn } from '../../state/RunStore.ts';
import type { TurnType } from '../../state/types.ts';
import type { NodeExecution } from '../execution/nodeExecution.ts';
import { describeThrown } from '../execution/thrown.ts';
import type { NodeEngine } from '../graph/NodeEngine.ts';
import { type GuardFinding, type GuardLevel, guardFact } from '../guards/lattice.ts';
import { type Depth, depthWarnings } from './depth.ts';
import { fieldsOf, mergedState, type NodeOutput } from './nodeOutput.ts';

interface BegunTurn<State> {
  readonly state: State;
  readonly depth: Depth;
}

/** Before the work: fence, event and the journal's Thought in one transaction. */
export function recordThought<State extends object>(
  visit: NodeExecution,
  { state, depth }: BegunTurn<State>,
  engine: NodeEngine<State>,
): void {
  const scope = nodeScope(visit, state, engine);
  const payload = { node: visit.node, attempt: visit.attempt };
  const started: NewEvent = { name: 'NODE_STARTED', payload, scope };
  const facts = [started, ...depthWarnings(depth, visit, scope)];
  engine.runs.enter(visit, turnOf('Thought', { visit, state, facts }, engine));
}

interface FinishedTurn<State> {
  readonly before: State;
  readonly output: NodeOutput;
  readonly startedAt: number;
  /** Findings of guards in the node's output. */
  readonly findings: readonly GuardFinding[];
}

/** After the work: fence, events and the journal's Action, in the transaction of what LangGraph writes of the task. */
export function recordAction<State extends object>(
  visit: NodeExecution,
  { before, output, startedAt, findings }: FinishedTurn<State>,
  engine: NodeEngine<State>,
): void {
  const state = mergedState(before, output.update);
  const durationMs = engine.now() - startedAt;
  const scope = nodeScope(visit, state, engine);
  const changes = newEventsOf((emit) => engine.profile.announce(before, state, emit, scope));
  const finished: NewEvent = { name: 'NODE_FINISHED', payload: { node: visit.node, durationMs }, scope };
  const facts = [...changes, ...findings.map((finding) => guardFact(finding, scope)), finished];
  engine.runs.leave(visit, turnOf('Action', { visit, state, facts }, engine));
}

/** A node threw: an event that says whether it is tried again. */
export function recordFailure<State>(
  error: unknown,
  visit: NodeExecution,
  { runs, profile }: NodeEngine<State>,
): void {
  const { node, attempt, threadId, lgTaskId } = visit;
  const scope = { threadId };
  const { message } = describeThrown(error);
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

interface NodeReport<State> {
  readonly visit: NodeExecution;
  readonly state: State;
  readonly facts: readonly NewEvent[];
}

function turnOf<State extends object>(
  turnType: TurnType,
  { visit, state, facts }: NodeReport<State>,
  { profile, newId, now }: NodeEngine<State>,
): NodeTurn {
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

const nodeScope = <State>(
  { threadId, node }: NodeExecution,
  state: State,
  { profile }: NodeEngine<State>,
) => ({
  threadId,
  taskId: profile.taskIdOf(state, node),
});
