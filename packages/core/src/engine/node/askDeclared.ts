import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { NodeExecution } from '../execution/nodeExecution.ts';
import { isAnswer } from '../gates/answers.ts';
import type { AnswerPolicy } from '../gates/DeclaredGate.ts';
import { ENGINE_GATES } from '../gates/engineGates.ts';
import { recordedFor } from '../gates/gatePolicies.ts';
import { type ParsedGate, type TypedAnswer, validated } from '../gates/parsedGates.ts';
import { askQuestion, type Question, type ShownArtifact, shownBy } from '../gates/question.ts';
import type { NodeUpdate } from '../graph/GraphProfile.ts';

/** What a human's answer does to the visit that asked: an update, and whether the node runs. */
interface AnswerEffect<State> {
  readonly update: NodeUpdate<State>;
  readonly runNode: boolean;
}

/** Where a declared gate asks. */
export interface AskedAt {
  readonly visit: Pick<NodeExecution, 'threadId' | 'lgTaskId' | 'node' | 'epoch'>;
  /** `null` in plain LangGraph use without a state file. */
  readonly store: EngineStore | null;
}

/**
 * Asks what an author declared before a node, and returns what the answer does; `null` where there is nothing to ask.
 *
 * A gate that this visit has asked stays asked, even if it shows nothing by now: an answer to it may be on its way, and
 * would be taken by the node's own next question. It then asks what it asked, and the answer to that counts.
 *
 * @throws GraphInterrupt until there is an answer.
 */
export function askDeclared<State>(
  gate: ParsedGate<State>,
  state: State,
  at: AskedAt,
): AnswerEffect<State> | null {
  const shown = gate.show(state);
  const about = shown === undefined ? artifactAskedBefore(at) : shownBy(shown);
  if (about === null) return null;
  const parse = (value: unknown) => answerEffect(gate, state, value);
  return askQuestion(questionOf(gate, about, at), parse, withdrawnIn(at));
}

/** Read from the file, which only ever adds to it: a void answer is void in every execution to come. */
export function withdrawnIn({ store }: Pick<AskedAt, 'store'>) {
  return { isVoid: (sessionId: string) => store?.sessions.find(sessionId)?.status === 'superseded' };
}

const nodeGateKey = ({ visit }: AskedAt): string => `node_gate/${visit.lgTaskId}`;

function artifactAskedBefore(at: AskedAt): ShownArtifact | null {
  const { threadId, lgTaskId: visitId } = at.visit;
  const asked = at.store?.sessions.findAsked({
    threadId,
    visitId,
    questionKey: nodeGateKey(at),
    kind: 'node_gate',
  });
  return asked ? shownIn(asked) : null;
}

export function shownIn({ question, artifactHash }: HitlSession): ShownArtifact {
  const { artifact = null, masked } = (question ?? {}) as Partial<ShownArtifact>;
  return { artifact, artifactHash: artifactHash ?? '', ...(masked !== undefined && { masked }) };
}

function questionOf<State>(gate: ParsedGate<State>, about: ShownArtifact, at: AskedAt): Question {
  const { visit } = at;
  const takes = policyOfGate(gate, at);
  const { responseSchema } = gate.answer ?? {};
  return {
    kind: 'node_gate',
    key: nodeGateKey(at),
    taskId: visit.threadId,
    ...about,
    message: `Approve before "${visit.node}" runs.`,
    ...(gate.onReject === undefined && { endsOnRejection: true }),
    ...(responseSchema !== undefined && { responseSchema }),
    ...(takes !== null && { takes }),
  };
}

/** `null` for a gate that takes one yes or no, as every gate of an older release. */
function policyOfGate<State>({ name, edit, answer }: ParsedGate<State>, at: AskedAt): AnswerPolicy | null {
  const takes = takesAt(name, at);
  const isPlain = edit === undefined && answer === undefined;
  if (isPlain && takes.approvals === undefined && takes.deadlines === undefined) return null;
  return { ...takes, ...(edit && { edit: 'artefact' }), ...(answer && { value: true }) };
}

/** What the run was started with for a gate of this name. */
export function takesAt(gate: string, { store, visit }: AskedAt): AnswerPolicy {
  const policies = store?.threads.get(visit.threadId)?.policies;
  const approvals = recordedFor(policies, 'approvals', gate);
  const deadlines = recordedFor(policies, 'deadlines', gate);
  return { gate, ...(approvals && { approvals }), ...(deadlines && { deadlines }) };
}

/** `null` for an answer that the gate does not take, or takes no more: it asks again. */
function answerEffect<State>(
  gate: ParsedGate<State>,
  state: State,
  value: unknown,
): AnswerEffect<State> | null {
  if (!isAnswer(ENGINE_GATES.node_gate, value)) return null;
  if ('value' in value) return gate.answer === undefined ? null : valued(gate.answer, state, value.value);
  if ('edit' in value)
    return gate.edit === undefined ? null : { update: gate.edit(state, value.edit), runNode: true };
  if (!value.approved) {
    const { feedback, comments = [] } = value;
    return { update: gate.onReject?.(state, feedback, comments) ?? {}, runNode: false };
  }
  return gate.answer === undefined ? { update: {}, runNode: true } : null;
}

function valued<State>(
  { schema, apply }: TypedAnswer<State>,
  state: State,
  value: unknown,
): AnswerEffect<State> | null {
  const parsed = validated(schema, value);
  return parsed.issues === undefined ? { update: apply(state, parsed.value), runNode: true } : null;
}
