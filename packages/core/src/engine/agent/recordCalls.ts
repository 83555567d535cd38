import { ToolMessage } from '@langchain/core/messages';
import { type AgentMiddleware, createMiddleware } from 'langchain';
import { type OptionNames, withKnownNames } from '../../config/knownOptions.ts';
import { asAnswered, isCallRefused, refusedToolMessage } from '../node/askDeclared.ts';
import { isOwnFailure } from '../node/repeatableStep.ts';
import { askAboutCall, type CallGates, parsedCallGates } from './callGates.ts';
import { recordedModel } from './recordedModel.ts';
import { recordedToolCall } from './recordedTools.ts';

export interface RecordCallsOptions {
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
