import type { GuardedState } from '../channels.ts';
import type { EngineStore } from '../EngineStore.ts';
import { type EntropyScore, scoreEntropy } from '../entropy/scoreEntropy.ts';
import type { GraphProfile } from '../GraphProfile.ts';
import type { GateStatus, StuckTask } from '../gates/TaskFailureGate.ts';
import {
  assertUnitInterval,
  type GuardFinding,
  type GuardLevel,
  precedence,
  warningOf,
} from '../guards/lattice.ts';
import { guardsIn, type NodeExecution } from '../nodeExecution.ts';
import type { NodeMetadata } from './nodeOutput.ts';
import type { RunnerDeps } from './RunnerDeps.ts';

/** What a look at a node's output led to. */
export interface Suspended {
  readonly update: Pick<GuardedState, 'pendingSuspension'>;
  readonly findings: readonly GuardFinding[];
}

const NOT_STUCK: Suspended = { update: {}, findings: [] };

/**
 * Opens the task's failure gate when the node says so or its turns repeat themselves too much, and keeps an open one
 * open: a re-executed node with a lower score must not forget it. Everything but an open gate is read from the state,
 * so a node that runs again is judged the same. A pivot that is due goes first.
 */
export async function suspendIfStuck<State extends object>(
  metadata: NodeMetadata,
  state: State,
  visit: NodeExecution,
  { store, profile }: RunnerDeps<State>,
): Promise<Suspended> {
  if (store === null || profile.withoutEntryQuestion.has(visit.node)) return NOT_STUCK;
  const taskId = profile.taskIdOf(state, visit.node) ?? profile.projectIdOf(state, visit.threadId);
  const task: StuckTask = {
    taskId,
    fence: store.fenceOf(visit),
    ...(visit.epoch === null ? { graphState: state } : { threadId: visit.threadId }),
  };
  const open = store.failureGate.getGateStatus(taskId);
  if (open !== null) return stuckSuspension(open, task, visit, store);
  if (metadata.stuck !== undefined) {
    return stuckSuspension(store.failureGate.open({ ...task, ...metadata.stuck }), task, visit, store);
  }

  const entropy = entropyOf(metadata, state, visit.node, profile);
  if (entropy === null) return NOT_STUCK;
  const level = entropyLevel(entropy, guardsIn(state, visit), store.failureGate.threshold);
  if (level.level < level.limit) return { update: {}, findings: warningOf(level) };
  if (precedence([level, ...profile.due(state)])?.winner !== level) {
    return { update: {}, findings: [{ event: 'GUARD_SUPPRESSED', level }] };
  }
  await store.failureGate.evaluate({ ...task, entropyScore: entropy.score, evidence: entropy });
  const tripped = store.failureGate.getGateStatus(taskId);
  return tripped === null ? NOT_STUCK : stuckSuspension(tripped, task, visit, store);
}

/** The score a node gives itself wins; without one it is that of the turns in the state, if there are any. */
function entropyOf<State>(
  { entropyScore }: NodeMetadata,
  state: State,
  node: string,
  { turnsOf, polling }: GraphProfile<State>,
): EntropyScore | null {
  if (entropyScore !== undefined) {
    assertUnitInterval('entropyScore', entropyScore);
    return { score: entropyScore, parts: [] };
  }
  const turns = turnsOf?.(state, node) ?? [];
  return turns.length === 0 ? null : scoreEntropy(turns, { ...(polling && { polling }) });
}

/** An episode of the score ends with the next progress. */
function entropyLevel({ score, parts }: EntropyScore, guards: GuardedState, limit: number): GuardLevel {
  const episode = String(guards.progressStep ?? 0);
  return { measure: 'entropy', level: score, limit, episode, evidence: { parts } };
}

/** What the gate saw comes from its session: of several executions of a node the first one opened it. */
function stuckSuspension(
  { sessionId, reason }: GateStatus,
  { taskId }: StuckTask,
  { node }: NodeExecution,
  store: EngineStore,
): Suspended {
  const entropy = store.sessions.require(sessionId).evidence as EntropyScore | null;
  const suspension = { sessionId, kind: 'task_failure', taskId, node, reason } as const;
  return {
    update: { pendingSuspension: { ...suspension, ...(entropy !== null && { entropy }) } },
    findings: [],
  };
}
