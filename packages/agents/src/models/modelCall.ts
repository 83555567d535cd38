import { type CallUsage, DevsError, maskSensitiveData } from '@devs/core';
import type { AIMessage, AIMessageChunk, BaseMessageLike, UsageMetadata } from '@langchain/core/messages';
import { z } from 'zod';
import type { NamedModel, ToolCallingModel } from './loadChatModel.ts';

/** A tool as it is offered to a model. */
export interface ToolOffer {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
}

/** A tool the model wants to call: with its input, or with what is wrong about it. */
export type ModelToolCall = { readonly id: string; readonly name: string } & (
  | { readonly input: unknown }
  | { readonly problem: string }
);

/** What came back from one request to a model. */
export interface ModelReply {
  /** For the history. */
  readonly message: BaseMessageLike;
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
  /** The answer is empty, or the output limit cut it off. */
  readonly isCut: boolean;
  readonly usage: CallUsage;
}

export interface ModelCallOptions {
  readonly tools: readonly ToolOffer[];
  readonly signal: AbortSignal;
  /** Time limit of this request, ms. */
  readonly timeoutMs: number;
  readonly streaming: boolean;
  /** Told of what the model says, and not of tool input; in pieces when streaming. */
  readonly onSaid: (text: string) => void;
}

/**
 * One request to a model, which has to answer by calling a tool.
 *
 * @throws DevsError `AGENT_FAILED`; the reason of `signal` once it is aborted.
 */
export async function callModel(
  { name, chat }: NamedModel,
  messages: readonly BaseMessageLike[],
  options: ModelCallOptions,
): Promise<ModelReply> {
  const { signal, timeoutMs } = options;
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    return replyFrom(await request(chat, messages, { ...options, signal: AbortSignal.any([signal, limit]) }));
  } catch (error) {
    signal.throwIfAborted();
    throw modelCallError(error, name, limit.aborted ? timeoutMs : null);
  }
}

async function request(
  chat: ToolCallingModel,
  messages: readonly BaseMessageLike[],
  { tools, signal, streaming, onSaid }: ModelCallOptions,
): Promise<AIMessage | AIMessageChunk> {
  const bound = chat.bindTools(tools.map(offered), { tool_choice: 'any', ...keptPrefix(chat) } as object);
  if (!streaming) {
    const answer = await bound.invoke([...messages], { signal });
    if (answer.text !== '') onSaid(answer.text);
    return answer;
  }
  let whole: AIMessageChunk | undefined;
  for await (const chunk of await bound.stream([...messages], { signal })) {
    whole = whole === undefined ? chunk : whole.concat(chunk);
    if (chunk.text !== '') onSaid(chunk.text);
  }
  if (whole === undefined) throw new Error('The connection closed without an answer.');
  return whole;
}

/** Each request sends the schemas, so parts that a model does not need are left out. */
function offered({ name, description, schema }: ToolOffer): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...plain } = z.toJSONSchema(schema, { io: 'input', override: withoutLimits });
  return { name, description, schema: plain };
}

/** The range of integers in JavaScript. */
function withoutLimits({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}

/** Asks the provider to cache the beginning of a conversation. Other providers do so by themselves. */
const keptPrefix = (chat: ToolCallingModel): object =>
  chat._llmType() === 'anthropic' ? { cache_control: { type: 'ephemeral' } } : {};

function replyFrom(message: AIMessage | AIMessageChunk): ModelReply {
  const calls = callsOf(message);
  // Under exactOptionalPropertyTypes LangChain's declarations reduce this member to `undefined`.
  const used = message.usage_metadata as UsageMetadata | undefined;
  return {
    message: calls.some((call) => 'problem' in call) ? withoutBrokenInput(message, calls) : message,
    text: message.text,
    calls,
    isCut: isCutOff(message) || (calls.length === 0 && message.text.trim() === ''),
    usage: used === undefined ? {} : usageFrom(used),
  };
}

/** As the provider has it: what cannot be is refused where it is added up, and the answer is taken. */
function usageFrom({ input_tokens, output_tokens, input_token_details }: UsageMetadata): CallUsage {
  const tokensCached = input_token_details?.cache_read;
  return {
    tokensIn: input_tokens,
    tokensOut: output_tokens,
    ...(tokensCached !== undefined && { tokensCached }),
  };
}

function callsOf(message: AIMessage | AIMessageChunk): readonly ModelToolCall[] {
  const chunks = 'tool_call_chunks' in message ? (message.tool_call_chunks ?? []) : [];
  const why = isCutOff(message)
    ? 'The answer was cut off at the output limit; give it in smaller pieces'
    : '';
  if (chunks.length > 0) {
    // LangChain completes broken JSON of a stream by guessing; half a file must not pass as a whole one.
    return chunks.map(({ id, name, args }, index) => parseToolCall({ id, name, args, index, why }));
  }
  const broken = (message.invalid_tool_calls ?? []).map(({ id, name, args }, index) =>
    parseToolCall({ id, name, args, index, why }),
  );
  const whole = (message.tool_calls ?? []).map(({ id, name, args }, index) => ({
    id: id ?? `call-${index}`,
    name,
    input: args as unknown,
  }));
  return [...whole, ...broken];
}

interface RawCall {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly args: string | undefined;
  readonly index: number;
  /** What is known about why the input may be broken; empty for nothing. */
  readonly why: string;
}

function parseToolCall({ id, name = '', args = '', index, why }: RawCall): ModelToolCall {
  const named = { id: id ?? `call-${index}`, name };
  try {
    return { ...named, input: args === '' ? {} : JSON.parse(args) };
  } catch (error) {
    return { ...named, problem: why || `The input is not JSON: ${(error as Error).message}` };
  }
}

/** A provider refuses a history in which the answer to a call has no call. */
function withoutBrokenInput(
  { text }: AIMessage | AIMessageChunk,
  calls: readonly ModelToolCall[],
): BaseMessageLike {
  const toolCalls = calls.map((call) => ({
    id: call.id,
    name: call.name,
    args: 'input' in call ? (call.input as Record<string, unknown>) : {},
    type: 'tool_call' as const,
  }));
  return { role: 'assistant', content: text, tool_calls: toolCalls };
}

/** Providers name it differently. */
function isCutOff({ response_metadata, additional_kwargs }: AIMessage | AIMessageChunk): boolean {
  const facts: Readonly<Record<string, unknown>> = { ...additional_kwargs, ...response_metadata };
  const reason = facts['finish_reason'] ?? facts['stop_reason'] ?? facts['done_reason'];
  return reason === 'length' || reason === 'max_tokens';
}

/**
 * What to throw for a failed request. Whether to try again is the engine's decision: the cause keeps the signs it
 * decides by.
 *
 * @param timeoutMs - The limit that passed, or `null` when the request failed by itself.
 */
function modelCallError(cause: unknown, model: string, timeoutMs: number | null): DevsError {
  const what =
    timeoutMs === null
      ? `failed: ${maskedErrorChain(cause)}`
      : `timed out: no complete answer within ${timeoutMs} ms`;
  const status = httpStatus(cause);
  return new DevsError(`The call of ${model} ${what}`, {
    code: 'AGENT_FAILED',
    remedy: remedyFor(status),
    context: { model, ...(status !== null && { status }) },
    cause,
  });
}

function httpStatus(error: unknown): number | null {
  const status = (error as { readonly status?: unknown } | null)?.status;
  return typeof status === 'number' ? status : null;
}

const OVERFLOW =
  /context[_ ](?:length|window)|maximum context|prompt is too long|input is too long|request too large|reduce the length|(?:exceeds?|over) (?:the )?(?:model's )?(?:maximum|max|limit)\b[^\n]{0,60}tokens|too many (?:input )?tokens/i;

/** Whether a request failed for its length: waiting does not help, sending less does. */
export function isContextOverflow(error: unknown): boolean {
  const layers = [
    error,
    (error as Error | null)?.cause,
    ((error as Error | null)?.cause as Error | null)?.cause,
  ];
  return layers.some(
    (layer) =>
      httpStatus(layer) === 413 ||
      (layer instanceof Error && (layer.name === 'ContextOverflowError' || OVERFLOW.test(layer.message))),
  );
}

/** The error and what it wraps, masked. */
function maskedErrorChain(error: unknown): string {
  const layers = [error, (error as Error | null)?.cause];
  const messages = layers.map((layer) => (layer instanceof Error ? firstLine(layer) : '')).filter(Boolean);
  return maskSensitiveData(messages.length === 0 ? String(error) : messages.join(': '));
}

/** LangChain adds a link to every message. */
function firstLine({ message }: Error): string {
  return (message.split('\n')[0] ?? '').replace(/\.$/, '');
}

function remedyFor(status: number | null): string {
  if (status === 401 || status === 403) return 'Set a valid key for the provider, then resume the run.';
  if (status === 400 || status === 422) return 'Check the settings of the model, then resume the run.';
  if (status === 404) return 'Check the name of the model, then resume the run.';
  if (status === 429) return 'Wait until the provider accepts more requests, then resume the run.';
  return 'Check that the provider can be reached, then resume the run.';
}
