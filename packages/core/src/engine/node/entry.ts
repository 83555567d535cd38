import type { EventSink } from '../../events/EventBus.ts';
import type { StateUpdate } from '../GraphProfile.ts';
import { isAnswer } from '../gates/answers.ts';
import { type AskOptions, ask } from '../gates/ask.ts';
import { ENGINE_GATES } from '../gates/engineGates.ts';
import { ruleOf } from '../gates/GateRule.ts';
import { type Question, questionAbout } from '../gates/question.ts';
import { depthContext } from '../guards/depthLevel.ts';
import { checkRecursionDepth } from '../guards/recursionGuard.ts';
import { guardsIn, type Visit } from '../visit.ts';
import { mergedState, withoutGuards } from './mergedState.ts';
import type { RunnerDeps } from './RunnerDeps.ts';

/** A gate an author declared in front of a node. */
export interface DeclaredGate<State> {
  /** What the human reads; plain JSON. An answer counts while it shows the same. */
  readonly show: (state: State) => unknown;
  /** The node's update when the human says no. Without it, a rejection cancels the run. */
  readonly onReject?: (state: State, feedback: string | undefined) => StateUpdate<State>;
}

export interface Entered<State> {
  readonly update: StateUpdate<State>;
  readonly runNode: boolean;
  readonly answered: boolean;
}

interface Entering<State> {
  readonly name: string;
  readonly gate: DeclaredGate<State> | null;
}

/**
 * Asks what must be asked before a node works: at most one question of a guard, then the node's declared gate,
 * which is never skipped.
 */
export function askAtEntry<State extends object>(
  node: Entering<State>,
  state: State,
  visit: Visit,
  deps: RunnerDeps<State>,
): Entered<State> {
  const guarded = askForGuard(state, visit, deps);
  const current = mergedState(state, withoutGuards(guarded.update, deps.profile));
  if (node.gate === null || !guarded.runNode) return guarded;
  return askForGate(node.gate, current, visit, { guarded, deps });
}

/** Read from the file, which only ever adds to it: a void answer is void in every execution to come. */
function withdrawnIn({ store }: Pick<RunnerDeps<object>, 'store'>): AskOptions {
  return { isVoid: (sessionId) => store?.sessions.find(sessionId)?.status === 'superseded' };
}

function askForGuard<State extends object>(
  state: State,
  visit: Visit,
  deps: RunnerDeps<State>,
): Entered<State> {
  const question = guardQuestion(state, visit, deps);
  if (question === null) return { update: {}, runNode: true, answered: false };
  const rule = ruleOf(deps.profile.rules, question.kind);
  const answer = ask(question, (value) => (isAnswer(rule, value) ? value : null), withdrawnIn(deps));
  return { ...deps.profile.applyAnswer(state, question, answer), answered: true };
}

/** The warning is raised once the visit is on record, not each time its question is asked. */
const SILENT: EventSink = { emit: () => {} };

/** The question of a guard, from the checkpoint alone: a suspension wins over depth, its answer being progress. */
function guardQuestion<State extends object>(
  state: State,
  visit: Visit,
  { profile, maxDepth }: RunnerDeps<State>,
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
  const context = depthContext(state, visit);
  if (checkRecursionDepth(context, { limit: maxDepth, events: SILENT }).allowed) return null;
  const depth = context.metadata.recursionDepth;
  const taskId = profile.taskIdOf(state, visit.node) ?? profile.projectIdOf(state, visit.threadId);
  const message = `${depth} node transitions without progress; the limit is ${maxDepth}.`;
  const key = `recursion_limit/${visit.lgTaskId}`;
  return questionAbout({ depth, limit: maxDepth }, { kind: 'recursion_limit', key, taskId, message });
}

function askForGate<State extends object>(
  gate: DeclaredGate<State>,
  state: State,
  visit: Visit,
  { guarded, deps }: { readonly guarded: Entered<State>; readonly deps: Pick<RunnerDeps<State>, 'store'> },
): Entered<State> {
  const question = questionAbout(gate.show(state), {
    kind: 'node_gate',
    key: `node_gate/${visit.lgTaskId}`,
    taskId: visit.threadId,
    message: `Approve before "${visit.node}" runs.`,
    ...(gate.onReject === undefined && { endsOnRejection: true }),
  });
  const parse = (value: unknown) => (isAnswer(ENGINE_GATES.node_gate, value) ? value : null);
  const answer = ask(question, parse, withdrawnIn(deps));
  if (answer.approved) return { ...guarded, answered: true };
  const rejected = gate.onReject?.(state, answer.feedback) ?? {};
  return { update: { ...guarded.update, ...rejected }, runNode: false, answered: true };
}
