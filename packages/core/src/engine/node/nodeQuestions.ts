// The questions of a node: guards and gates ask at its entry. What its output raises is asked at the next node's entry.

import { type EntropyScore, scoreEntropy } from '../entropy/scoreEntropy.ts';
import { type GuardedState, guardsIn, type NodeExecution } from '../execution/nodeExecution.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { isAnswer, ruleOf } from '../gates/engineGates.ts';
import type { AnyGate } from '../gates/parsedGates.ts';
import { askQuestion, type Question, questionAbout } from '../gates/question.ts';
import type { GateStatus, StuckTask } from '../gates/TaskFailureGate.ts';
import { type GraphProfile, type NodeEngine, type NodeUpdate, recordedGoal } from '../graph/NodeEngine.ts';
import {
  assertUnitInterval,
  type GuardFinding,
  type GuardLevel,
  precedence,
  warningOf,
} from '../guards/lattice.ts';
import { askDeclared, askToolCalls, type Through, withdrawnIn } from './askDeclared.ts';
import { type Depth, depthOf } from './depth.ts';
import { mergedState, type NodeMetadata, withoutGuards } from './nodeOutput.ts';

export interface Entered<State> {
  readonly update: NodeUpdate<State>;
  readonly runNode: boolean;
  readonly answered: boolean;
  readonly depth: Depth;
  /** What of the update a human's answer wrote to the author's channels, to be merged by their reducers. */
  readonly decided?: NodeUpdate<State>;
  /** How the node is run, where an answer is about a part of its work. */
  readonly through?: Through;
}

interface Entering<State> {
  readonly gate: AnyGate<State> | null;
}

/**
 * Asks what must be asked before a node works: at most one question of a guard, then the node's declared gate,
 * which is never skipped.
 */
export function askAtEntry<State extends object>(
  node: Entering<State>,
  state: State,
  visit: NodeExecution,
  engine: NodeEngine<State>,
): Entered<State> {
  const guarded = askForGuard(state, visit, engine);
  const current = mergedState(state, withoutGuards(guarded.update, engine.profile));
  if (node.gate === null || !guarded.runNode) return guarded;
  const at = { visit, store: engine.store };
  if ('showCall' in node.gate) {
    const through = askToolCalls(node.gate, current, at);
    return through === null ? guarded : { ...guarded, through, answered: true };
  }
  const decided = askDeclared(node.gate, current, at);
  if (decided === null) return guarded;
  const { update, runNode } = decided;
  if (!runNode) return { ...guarded, update: { ...guarded.update, ...update }, runNode, answered: true };
  return { ...guarded, decided: update, answered: true };
}

function askForGuard<State extends object>(
  state: State,
  visit: NodeExecution,
  engine: NodeEngine<State>,
): Entered<State> {
  const depth = depthOf(state, visit, engine.maxDepth);
  const question = guardQuestion(state, depth, visit, engine);
  if (question === null) return { update: {}, runNode: true, answered: false, depth };
  const rule = ruleOf(engine.profile.rules, question.kind);
  const answer = askQuestion(
    question,
    (value) => (isAnswer(rule, value) ? value : null),
    withdrawnIn(engine),
  );
  return { ...engine.profile.applyAnswer(state, question, answer), answered: true, depth };
}

/** The question of a guard, from the checkpoint alone: a suspension wins over depth, its answer being progress. */
function guardQuestion<State extends object>(
  state: State,
  { current, limit, isAllowed }: Depth,
  visit: NodeExecution,
  { profile }: NodeEngine<State>,
): Question | null {
  if (profile.withoutEntryQuestion.has(visit.node)) return null;
  const { pendingSuspension } = guardsIn(state, visit);
  if (pendingSuspension) {
    const { kind, sessionId, taskId } = pendingSuspension;
    const artifact = profile.suspensionEvidence(state, pendingSuspension);
    return questionAbout(artifact, {
      kind,
      key: sessionId,
      taskId,
      message: profile.suspensionMessage(pendingSuspension, state),
    });
  }
  if (isAllowed) return null;
  const taskId = profile.taskIdOf(state, visit.node) ?? profile.projectIdOf(state, visit.threadId);
  const message = `${current} node transitions without progress; the limit is ${limit}.`;
  const key = `recursion_limit/${visit.lgTaskId}`;
  return questionAbout({ depth: current, limit }, { kind: 'recursion_limit', key, taskId, message });
}

/** What the recorded goal of a run changes in the state a node is entered with. */
export function towardsGoal<State extends object>(
  entered: Entered<State>,
  state: State,
  visit: NodeExecution,
  { runs, profile }: NodeEngine<State>,
): Entered<State> {
  if (!entered.runNode || profile.steer === undefined) return entered;
  const goal = recordedGoal(runs, visit.threadId);
  if (goal === null) return entered;
  const steered = profile.steer(mergedState(state, entered.update), visit.node, goal);
  return { ...entered, update: { ...entered.update, ...steered.update }, runNode: steered.runNode };
}

/** The result of a look at a node's output. */
interface Suspended {
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
  { store, profile }: NodeEngine<State>,
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
