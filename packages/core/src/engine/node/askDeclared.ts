import { type AIMessage, isBaseMessage, ToolMessage } from '@langchain/core/messages';
import { GraphInterrupt, isCommand } from '@langchain/langgraph';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { hashOf, sha256Hex } from '../../values/canonicalJson.ts';
import type { NodeExecution, NodeUpdate } from '../execution/nodeExecution.ts';
import { type Rejection, rejectionText } from '../gates/answerForms.ts';
import type { AnswerPolicy, GatedToolCall } from '../gates/DeclaredGate.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { type AnswerTo, answerWithAuthor, ENGINE_GATES, isAnswer, nodeGate } from '../gates/engineGates.ts';
import { recordedFor } from '../gates/gatePolicies.ts';
import { type ParsedGate, type ParsedToolGate, type TypedAnswer, validated } from '../gates/parsedGates.ts';
import {
  askedId,
  askQuestion,
  interruptAsking,
  type Question,
  questionAbout,
  type ShownArtifact,
  shownBy,
  storableValue,
} from '../gates/question.ts';

// A model that repeats a refused call is stuck: without a guard the gates of that call go on forever.

/** After so many refusals of the same call, by name and arguments, the guard asks first. */
export const MOST_REFUSALS = 2;

/** The content of the guard's gate. */
export interface RefusedCall {
  readonly reason: string;
  readonly tool: string;
  readonly args: GatedToolCall['args'];
  readonly refusals: number;
}

interface Where {
  readonly visit: Pick<NodeExecution, 'threadId'>;
  readonly store: EngineStore;
  /** The turn of the run. */
  readonly turn: number;
}

/** The same for equal calls of one turn: it covers the tool, the arguments and the turn, not the id. */
export function digestOfCall({ name, args }: GatedToolCall, turn: number): string {
  try {
    return hashOf({ name, args, turn });
  } catch {
    // A model may ask with arguments that cannot be a gate's content; the author decides whether they are shown.
    return sha256Hex(JSON.stringify(storableValue([name, args, turn])));
  }
}

/**
 * The guard's question before the next gate of a call. `null` if the call was refused less often, or if a person has
 * answered `continue`.
 *
 * @param key - Of the gate before the call.
 */
export function refusedBefore(
  call: GatedToolCall,
  key: string,
  { visit: { threadId }, store, turn }: Where,
): Question | null {
  const question = `refused/${key}`;
  const asked = store.sessions.findByInterrupt(threadId, askedId(question));
  if (asked?.decision != null && isAnswer(ENGINE_GATES.recursion_limit, asked.decision)) return null;
  const refusals = refusalsOf(store.sessions.decidedOnCall(threadId, digestOfCall(call, turn)));
  if (refusals < MOST_REFUSALS) return null;
  const reason = `"${call.name}" was refused ${refusals} times with the same arguments, and is asked for again`;
  const artifact: RefusedCall = { reason, tool: call.name, args: call.args, refusals };
  return {
    ...questionAbout(artifact, {
      kind: 'recursion_limit',
      key: question,
      taskId: threadId,
      message: `${reason}.`,
    }),
    call: digestOfCall(call, turn),
  };
}

/** Refusals since the last other decision about the call. */
function refusalsOf(decisions: readonly unknown[]): number {
  const last = decisions.findLastIndex((decision) => !isRefusal(decision));
  return decisions.length - 1 - last;
}

const isRefusal = (decision: unknown): boolean =>
  (decision as { readonly approved?: unknown } | null)?.approved === false;

/** The call that a question is about; `null` for a question about anything else. */
export function refusedCallIn({ artifact, call }: Question): RefusedCall | null {
  return call !== undefined && 'refusals' in Object(artifact) ? (artifact as RefusedCall) : null;
}

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

function shownIn({ question, artifactHash }: HitlSession): ShownArtifact {
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
function takesAt(gate: string, { store, visit }: AskedAt): AnswerPolicy {
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

/** How a node of tools is run by what was said about its calls. */
export type Through = <Config>(
  run: (state: never, config: Config) => unknown,
) => (state: never, config: Config) => Promise<unknown>;

type GatedToolAnswer = AnswerTo<typeof nodeGate>;

/** A call with the answer about it, and the question that is still open. */
export interface Judged {
  readonly call: GatedToolCall;
  readonly answer: GatedToolAnswer | null;
  readonly asks: Question | null;
}

/**
 * Asks about each call that a node of tools is about to make, all of them at once. Their answers are read from the file by
 * every execution, like that about a budget: no order of calls and answers can mix them up.
 *
 * @returns How to run the node; `null` where nobody had to be asked.
 * @throws GraphInterrupt with the questions that have no answer yet.
 */
export function askToolCalls<State>(gate: ParsedToolGate<State>, state: State, at: AskedAt): Through | null {
  const calls = pendingCalls(state);
  const judged = calls.map((call, index) =>
    judgeCall(gate, state, { call, which: callKey(call, index), at }),
  );
  const open = judged.flatMap(({ asks }) => (asks === null ? [] : [interruptAsking(asks)]));
  if (open.length > 0) throw new GraphInterrupt(open);
  return judged.some(({ answer }) => answer !== null) ? through(judged) : null;
}

/** The name of a call among those of its task. */
export const callKey = ({ id }: GatedToolCall, index: number): string =>
  encodeURIComponent(id ?? `#${index}`);

/** Reads the answer about one call, or the question that is still open. */
export function judgeCall<State>(gate: ParsedToolGate<State>, state: State, asked: CallAt): Judged {
  const { call, at } = asked;
  const question = questionOn(gate, state, asked);
  const guard = question === null ? null : guardBefore(question, call, at);
  if (guard !== null) return { call, answer: null, asks: guard };
  const answer = answerTo(question, at);
  return { call, answer, asks: answer === null ? question : null };
}

/** Before a gate that is new: one that was asked stays asked. */
function guardBefore({ key }: Question, call: GatedToolCall, at: AskedAt): Question | null {
  const { store, visit } = at;
  if (store === null || visit.epoch === null || sessionOn(key, at) !== null) return null;
  return refusedBefore(call, key, { visit, store, turn: turnOf(at) });
}

/** From 1. */
function turnOf({ store, visit: { threadId } }: AskedAt): number {
  return store?.steps.spendingBefore({ threadId, lgTaskId: '', name: '' }, null).turn ?? 1;
}

interface CallAt {
  readonly call: GatedToolCall;
  /** The name of the call in its task. */
  readonly which: string;
  readonly at: AskedAt;
}

function questionOn<State>(
  gate: ParsedToolGate<State>,
  state: State,
  { call, which, at }: CallAt,
): Question | null {
  const { visit } = at;
  const key = toolGateKey(visit.lgTaskId, which);
  const shown = gate.showCall(call, state);
  const before = shown === undefined ? sessionOn(key, at) : null;
  if (shown === undefined && before === null) return null;
  return {
    kind: 'node_gate',
    key,
    taskId: visit.threadId,
    ...(before === null ? shownBy(shown) : shownIn(before)),
    message: `Approve before "${visit.node}" calls ${call.name}.`,
    takes: takesOn(gate, at),
    ...(at.store !== null && { call: digestOfCall(call, turnOf(at)) }),
  };
}

/** @param which - As {@link callKey}. */
export const toolGateKey = (placeId: string, which: string): string => `node_gate/${placeId}/${which}`;

/** Several who approve say yes to the same: arguments of one's own are for a gate that one of them decides. */
function takesOn({ name, held }: Pick<ParsedToolGate<never>, 'name' | 'held'>, at: AskedAt): AnswerPolicy {
  const takes = { ...takesAt(name, at), ...held?.(at.store?.threads.get(at.visit.threadId)?.policies) };
  return takes.approvals === undefined ? { ...takes, edit: 'args' } : takes;
}

export function sessionOn(key: string, { store, visit }: AskedAt): HitlSession | null {
  return store?.sessions.findByInterrupt(visit.threadId, askedId(key)) ?? null;
}

/** In plain LangGraph use there is no file to read it from, and the calls are asked about one after the other. */
function answerTo(question: Question | null, at: AskedAt): GatedToolAnswer | null {
  if (question === null) return null;
  const { visit, store } = at;
  if (store === null || visit.epoch === null) return askQuestion(question, validAnswer, withdrawnIn(at));
  const session = sessionOn(question.key, at);
  if (session?.decision == null || session.artifactHash !== question.artifactHash) return null;
  return validAnswer(answerWithAuthor(session));
}

const validAnswer = (value: unknown): GatedToolAnswer | null => (isAnswer(nodeGate, value) ? value : null);

export const isCallRefused = ({ answer }: Pick<Judged, 'answer'>): boolean =>
  answer !== null && 'approved' in answer && answer.approved === false;

function through(judged: readonly Judged[]): Through {
  const allowed = judged.filter((one) => !isCallRefused(one)).map(asAnswered);
  return (run) => async (state, config) => {
    const outputs = allowed.length === 0 ? [] : await run(withCalls(state, allowed) as never, config);
    return withRefusals(outputs, judged, state);
  };
}

export function asAnswered({ call, answer }: Judged): GatedToolCall {
  const args = answer !== null && 'edit' in answer ? answer.edit : undefined;
  return args === undefined ? call : { ...call, args: args as GatedToolCall['args'] };
}

export function refusedToolMessage({ call, answer }: Judged): ToolMessage {
  return new ToolMessage({
    status: 'error',
    name: call.name,
    content: rejectionText(answer as Rejection) ?? '',
    tool_call_id: call.id ?? '',
  });
}

// What follows reads and writes what LangGraph's `ToolNode` does: a list of messages, a state with one, or what `Send`
// carries for one call.

interface SentCall {
  readonly lg_tool_call: GatedToolCall;
}

const isSent = (state: unknown): state is SentCall => 'lg_tool_call' in (Object(state) as object);

function messagesIn(state: unknown): readonly unknown[] {
  const messages: unknown = Array.isArray(state) ? state : (Object(state) as { messages?: unknown }).messages;
  return Array.isArray(messages) ? messages : [];
}

const isAsking = (message: unknown): message is AIMessage =>
  isBaseMessage(message) && message.getType() === 'ai';

/** The calls that the node will make, in its order. */
export function pendingCalls(state: unknown): readonly GatedToolCall[] {
  if (isSent(state)) return [state.lg_tool_call];
  const messages = messagesIn(state);
  const answered = new Set(
    messages.flatMap((message) => (isToolMessage(message) ? [message.tool_call_id] : [])),
  );
  const { tool_calls: calls = [] } = messages.findLast(isAsking) ?? {};
  return calls.filter(({ id }) => id === undefined || !answered.has(id));
}

const isToolMessage = (message: unknown): message is ToolMessage =>
  isBaseMessage(message) && message.getType() === 'tool';

/** The node's input with other calls in it. */
function withCalls(state: unknown, calls: readonly GatedToolCall[]): unknown {
  if (isSent(state)) return { ...state, lg_tool_call: calls[0] };
  const messages = messagesIn(state);
  const at = messages.findLastIndex(isAsking);
  const asking = messages[at] as AIMessage;
  const other = Object.assign(Object.create(Object.getPrototypeOf(asking) as object) as AIMessage, asking, {
    tool_calls: calls,
  });
  const changed = messages.with(at, other);
  return Array.isArray(state) ? changed : { ...(state as object), messages: changed };
}

/** What the node returned, with a message for each refused call in its place. */
function withRefusals(returned: unknown, judged: readonly Judged[], state: unknown): unknown {
  const refused = judged.filter(isCallRefused);
  if (refused.length === 0) return returned;
  const wrap = (message: ToolMessage): unknown =>
    Array.isArray(state) ? [message] : { messages: [message] };
  if (Array.isArray(returned) && returned.some(isCommand))
    return interleaved(returned, judged, (one) => wrap(refusedToolMessage(one)));
  const messages = interleaved(messagesIn(returned), judged, refusedToolMessage);
  return Array.isArray(state) ? messages : { ...(returned as object), messages };
}

/** The outputs of the calls that were made are in the order of the calls; what follows them stays behind. */
function interleaved(
  outputs: readonly unknown[],
  judged: readonly Judged[],
  refuse: (refused: Judged) => unknown,
): readonly unknown[] {
  const left = [...outputs];
  const inOrder = judged.flatMap((one) => (isCallRefused(one) ? [refuse(one)] : left.splice(0, 1)));
  return [...inOrder, ...left];
}
