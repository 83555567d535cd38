// Records the calls of an agent, and asks the gates before the calls of single tools where those are made.

import { ToolMessage } from '@langchain/core/messages';
import { type AgentMiddleware, createMiddleware } from 'langchain';
import { type OptionNames, withKnownNames } from '../../config/knownOptions.ts';
import type { Principal } from '../../state/gates/hitlSession.ts';
import {
  type DeclaredGate,
  type GatedToolCall,
  perToolCall,
  type RecordedApprovals,
  type ToolCallGate,
} from '../gates/DeclaredGate.ts';
import { gatePolicies } from '../gates/gatePolicies.ts';
import { type ParsedToolGate, parsedGates } from '../gates/parsedGates.ts';
import { interruptAsking } from '../gates/question.ts';
import { isRecorded } from '../node/ActiveNode.ts';
import {
  type AskedAt,
  asAnswered,
  callKey,
  isCallRefused,
  type Judged,
  judgeCall,
  refusedToolMessage,
  sessionOn,
  toolGateKey,
} from '../node/askDeclared.ts';
import { activeNode } from '../node/nodeContext.ts';
import { isOwnFailure } from '../node/repeatableStep.ts';
import { recordedPlace, stepPlace } from '../node/stepPlace.ts';
import { recordedModel } from './recordedModel.ts';
import { recordedToolCall } from './recordedTools.ts';

/** The content of a gate before a tool call; `undefined` lets the call pass without a question. */
type ShowCall = (call: GatedToolCall, state: Readonly<Record<string, unknown>>) => unknown;

/** A gate before the calls of a tool. */
interface CallGate extends Pick<DeclaredGate<never>, 'approvals' | 'deadlines'> {
  /** Content for the person, plain JSON. Return `undefined` to skip the call. @defaultValue its tool and arguments */
  readonly show?: ShowCall;
}

/** By the names of tools. `true`: each call is asked about; a function is the `show` of its gate. */
type CallGates = Readonly<Record<string, true | ShowCall | CallGate>>;

type AskedGate = ParsedToolGate<Readonly<Record<string, unknown>>>;

/**
 * Gates as they are asked, by the names of their tools.
 *
 * @throws TypeError for an invalid gate; RangeError for approvals that cannot be given.
 */
function parsedCallGates(gates: CallGates = {}): ReadonlyMap<string, AskedGate> {
  const declared = Object.entries(gates).map(([tool, gate]) => [tool, toolGate(tool, gate)] as const);
  const parsed = parsedGates(Object.fromEntries(declared)) as ReadonlyMap<string, AskedGate>;
  return new Map([...parsed].map(([tool, gate]) => [tool, { ...gate, held: heldBy(gate) }]));
}

const MEMBERS = { show: true, approvals: true, deadlines: true } satisfies OptionNames<CallGate>;

function toolGate(
  tool: string,
  gate: true | ShowCall | CallGate,
): ToolCallGate<Readonly<Record<string, unknown>>> {
  if (gate === true) return perToolCall();
  if (typeof gate === 'function') return perToolCall(gate);
  if (typeof gate !== 'object' || gate === null) {
    throw new TypeError(
      `The gate of tool "${tool}" must be true, a function or { show, approvals, deadlines }; got ${String(gate)}.`,
    );
  }
  const { show, ...rules } = withKnownNames(`Gate of tool "${tool}"`, gate, MEMBERS);
  return perToolCall(show, rules);
}

/** A run does not record such a gate when it starts: the rules apply from when the gate opens. */
function heldBy({ name, approvals, deadlines }: AskedGate): NonNullable<AskedGate['held']> {
  return (policies) => {
    const startedBy = policies?.['startedBy'] as Principal | undefined;
    const { approvals: recorded } = gatePolicies(
      new Map([[name, approvals ? { approvals } : {}]]),
      startedBy,
      name,
    );
    const held = (recorded as Readonly<Record<string, RecordedApprovals>> | undefined)?.[name];
    return { ...(held && { approvals: held }), ...(deadlines && { deadlines }) };
  };
}

/**
 * The decision of a person about a call.
 *
 * @throws GraphInterrupt until there is one.
 * @throws TypeError outside of `durable()`, where a gate cannot be recorded.
 */
async function askAboutCall(
  gate: AskedGate,
  call: GatedToolCall,
  state: Readonly<Record<string, unknown>>,
): Promise<Judged> {
  const active = activeNode('A tool with a gate');
  const { visit, store } = active;
  const which = callKey(call, 0);
  const place = stepPlace(active);
  const isAsked = (id: string): boolean => sessionOn(toolGateKey(id, which), { visit, store }) !== null;
  const { id } = isRecorded(active) ? await recordedPlace(active, place, isAsked) : place;
  const { threadId, node, epoch } = visit;
  const at: AskedAt = { visit: { threadId, node, epoch, lgTaskId: id }, store };
  const judged = judgeCall(gate, state, { call, which, at });
  if (judged.asks !== null) throw active.waits.leaveWith(interruptAsking(judged.asks));
  return judged;
}

interface RecordCallsOptions {
  /**
   * Gates before the calls of tools, by the names of the tools. A gate is `true`, a function that returns the content for
   * the person, or `{ show, approvals, deadlines }`. @defaultValue without gates
   */
  readonly gates?: CallGates;
  /**
   * Whether the model receives the error of a tool, as in an agent without middleware; that answer is recorded. With
   * `false` the middlewares listed before this one get the error, and the call is made again when its node runs again.
   * @defaultValue true
   */
  readonly handleToolErrors?: boolean;
}

const OPTIONS = { gates: true, handleToolErrors: true } satisfies OptionNames<RecordCallsOptions>;

/**
 * A middleware for LangChain's `createAgent` that records each model call and each tool call as a step. After a crash, a
 * retry or an answer the recorded results return. Only a call that was in flight is made twice.
 *
 * Put it behind middlewares that choose the model, such as `modelFallbackMiddleware`. Those listed after it work inside of
 * a recorded tool call.
 *
 * @throws TypeError for an unknown option or an invalid gate; RangeError for approvals that cannot be given.
 *
 * @example
 * ```ts
 * const agent = createAgent({ model, tools, middleware: [recordCalls({ gates: { send_mail: true } })] });
 * const app = durable(agent, { file: 'state.sqlite' });
 * ```
 */
export function recordCalls(options: RecordCallsOptions = {}): AgentMiddleware {
  const { gates, handleToolErrors = true } = withKnownNames('recordCalls()', options, OPTIONS);
  const asked = parsedCallGates(gates);
  return createMiddleware({
    name: 'RecordCalls',
    wrapModelCall: (request, handler) => handler({ ...request, model: recordedModel(request.model) }),
    wrapToolCall: async (request, handler) => {
      const { toolCall, state } = request;
      const gate = asked.get(toolCall.name);
      const judged = gate && (await askAboutCall(gate, toolCall, state));
      if (judged !== undefined && isCallRefused(judged)) return refusedToolMessage(judged);
      const call = judged === undefined ? toolCall : { ...toolCall, args: { ...asAnswered(judged).args } };
      const make = async () => await handler({ ...request, toolCall: call });
      return recordedToolCall(toolCall, () => (handleToolErrors ? orMessage(make, toolCall) : make()));
    },
  });
}

/** The result of a call, or the message about its error that LangChain gives the model in an agent without middleware. */
async function orMessage<Result>(
  make: () => Promise<Result>,
  { name, id }: { readonly name: string; readonly id?: string | undefined },
): Promise<Result | ToolMessage> {
  try {
    return await make();
  } catch (error) {
    if (!isOwnFailure(error) || isOfMiddleware(error)) throw error;
    const content = hasBrand(error, 'ToolInvocationError')
      ? (error as Error).message
      : `${String(error)}\n Please fix your mistakes.`;
    return new ToolMessage({ content, tool_call_id: id ?? '', name, status: 'error' });
  }
}

/** An error of a middleware itself ends the node, as in LangChain; an error of the arguments of a call does not. */
function isOfMiddleware(error: unknown): boolean {
  if (!hasBrand(error, 'MiddlewareError')) return false;
  let root: unknown = error;
  while (hasBrand(root, 'MiddlewareError')) root = (root as Error).cause;
  return !hasBrand(root, 'ToolInvocationError');
}

const hasBrand = (error: unknown, brand: string): boolean =>
  (Object(error) as { readonly '~brand'?: unknown })['~brand'] === brand;

/** A subagent of `createDeepAgent` that is declared, and is not an agent already. */
interface Declared {
  readonly middleware?: readonly AgentMiddleware[];
}

/**
 * The same subagents for `createDeepAgent` of `deepagents`, each with `recordCalls()` behind its own middlewares. Those of
 * the main agent do not reach them. A subagent stays as it is if it has `recordCalls()`, a `runnable` or a `graphId`.
 *
 * @param options - Those of `recordCalls()`.
 * @throws as `recordCalls()`.
 *
 * @example
 * ```ts
 * const subagents = recordedSubagents([GENERAL_PURPOSE_SUBAGENT, researcher]);
 * const agent = createDeepAgent({ model, tools, subagents, middleware: [recordCalls()] });
 * ```
 */
export function recordedSubagents<const Subagents extends readonly object[]>(
  subagents: Subagents,
  options: RecordCallsOptions = {},
): Subagents {
  const recording = recordCalls(options);
  const recorded = (subagent: object): object => {
    if ('runnable' in subagent || 'graphId' in subagent) return subagent;
    const { middleware = [] }: Declared = subagent;
    const isRecorded = middleware.some(({ name }) => name === recording.name);
    return isRecorded ? subagent : { ...subagent, middleware: [...middleware, recording] };
  };
  return subagents.map(recorded) as readonly object[] as Subagents;
}
