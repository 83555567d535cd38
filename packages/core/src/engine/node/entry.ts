import { recordedGoal } from '../Goal.ts';
import type { NodeUpdate } from '../GraphProfile.ts';
import { isAnswer, ruleOf } from '../gates/answers.ts';
import type { AnyGate } from '../gates/parsedGates.ts';
import { askQuestion, type Question, questionAbout } from '../gates/question.ts';
import { guardsIn, type NodeExecution } from '../nodeExecution.ts';
import { askDeclared, withdrawnIn } from './askDeclared.ts';
import { askToolCalls, type Through } from './askToolCalls.ts';
import { type Depth, depthOf } from './depth.ts';
import { mergedState, withoutGuards } from './mergedState.ts';
import type { RunnerDeps } from './RunnerDeps.ts';

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
  deps: RunnerDeps<State>,
): Entered<State> {
  const guarded = askForGuard(state, visit, deps);
  const current = mergedState(state, withoutGuards(guarded.update, deps.profile));
  if (node.gate === null || !guarded.runNode) return guarded;
  const at = { visit, store: deps.store };
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
  deps: RunnerDeps<State>,
): Entered<State> {
  const depth = depthOf(state, visit, deps.maxDepth);
  const question = guardQuestion(state, depth, visit, deps);
  if (question === null) return { update: {}, runNode: true, answered: false, depth };
  const rule = ruleOf(deps.profile.rules, question.kind);
  const answer = askQuestion(question, (value) => (isAnswer(rule, value) ? value : null), withdrawnIn(deps));
  return { ...deps.profile.applyAnswer(state, question, answer), answered: true, depth };
}

/** The question of a guard, from the checkpoint alone: a suspension wins over depth, its answer being progress. */
function guardQuestion<State extends object>(
  state: State,
  { current, limit, isAllowed }: Depth,
  visit: NodeExecution,
  { profile }: RunnerDeps<State>,
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
      message: profile.suspensionMessage(pendingSuspension),
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
  { runs, profile }: RunnerDeps<State>,
): Entered<State> {
  if (!entered.runNode || profile.steer === undefined) return entered;
  const goal = recordedGoal(runs, visit.threadId);
  if (goal === null) return entered;
  const steered = profile.steer(mergedState(state, entered.update), visit.node, goal);
  return { ...entered, update: { ...entered.update, ...steered.update }, runNode: steered.runNode };
}
