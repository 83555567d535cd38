import { type AIMessage, isBaseMessage, ToolMessage } from '@langchain/core/messages';
import { GraphInterrupt, isCommand } from '@langchain/langgraph';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { type AnswerTo, answerWithAuthor, isAnswer } from '../gates/answers.ts';
import { type Rejection, rejectionText } from '../gates/comments.ts';
import type { AnswerPolicy, GatedToolCall } from '../gates/DeclaredGate.ts';
import { nodeGate } from '../gates/engineGates.ts';
import type { ParsedToolGate } from '../gates/parsedGates.ts';
import { askedId, askQuestion, interruptAsking, type Question, shownBy } from '../gates/question.ts';
import { type AskedAt, shownIn, takesAt, withdrawnIn } from './askDeclared.ts';

/** How a node of tools is run by what was said about its calls. */
export type Through = <Config>(
  run: (state: never, config: Config) => unknown,
) => (state: never, config: Config) => Promise<unknown>;

type GatedToolAnswer = AnswerTo<typeof nodeGate>;

/** A call with what was said about it; `null` where nobody was asked. */
interface Judged {
  readonly call: GatedToolCall;
  readonly answer: GatedToolAnswer | null;
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
  const asked = calls.map((call, index) => questionOn(gate, state, { call, index, at }));
  const judged = calls.map((call, index) => ({ call, answer: answerTo(asked[index] ?? null, at) }));
  const open = asked.filter((question, index) => question !== null && judged[index]?.answer === null);
  if (open.length > 0)
    throw new GraphInterrupt(open.map((question) => interruptAsking(question as Question)));
  return judged.some(({ answer }) => answer !== null) ? through(judged) : null;
}

interface CallAt {
  readonly call: GatedToolCall;
  readonly index: number;
  readonly at: AskedAt;
}

function questionOn<State>(
  gate: ParsedToolGate<State>,
  state: State,
  { call, index, at }: CallAt,
): Question | null {
  const { visit } = at;
  const key = `node_gate/${visit.lgTaskId}/${encodeURIComponent(call.id ?? `#${index}`)}`;
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
  };
}

/** Several who approve say yes to the same: arguments of one's own are for a gate that one of them decides. */
function takesOn({ name }: Pick<ParsedToolGate<never>, 'name'>, at: AskedAt): AnswerPolicy {
  const takes = takesAt(name, at);
  return takes.approvals === undefined ? { ...takes, edit: 'args' } : takes;
}

function sessionOn(key: string, { store, visit }: AskedAt): HitlSession | null {
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

const isCallRefused = ({ answer }: Judged): boolean =>
  answer !== null && 'approved' in answer && answer.approved === false;

function through(judged: readonly Judged[]): Through {
  const allowed = judged.filter((one) => !isCallRefused(one)).map(asAnswered);
  return (run) => async (state, config) => {
    const outputs = allowed.length === 0 ? [] : await run(withCalls(state, allowed) as never, config);
    return withRefusals(outputs, judged, state);
  };
}

function asAnswered({ call, answer }: Judged): GatedToolCall {
  const args = answer !== null && 'edit' in answer ? answer.edit : undefined;
  return args === undefined ? call : { ...call, args: args as GatedToolCall['args'] };
}

function refusedToolMessage({ call, answer }: Judged): ToolMessage {
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
function pendingCalls(state: unknown): readonly GatedToolCall[] {
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
