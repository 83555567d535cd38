import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import type { Callbacks } from '@langchain/core/callbacks/manager';
import { AIMessageChunk, type BaseMessage, isBaseMessage } from '@langchain/core/messages';
import type { ChatGenerationChunk, LLMResult } from '@langchain/core/outputs';
import type { Provisional, TokenReader } from './LiveTokens.ts';
import type { TokensChunk } from './StreamEvent.ts';
import { graphNsOf, ownTaskOf } from './tasks.ts';

/** A task of the run's own graph. */
export interface StreamedTask {
  readonly id: string;
  readonly node: string;
  readonly step: number;
}

type ModelStart = Parameters<NonNullable<BaseCallbackHandler['handleChatModelStart']>>;
type NewToken = Parameters<NonNullable<BaseCallbackHandler['handleLLMNewToken']>>;

/** A call of a chat model. */
interface Call {
  readonly of: Omit<TokensChunk, 'data' | 'chunk' | 'piece'>;
  hasTokens: boolean;
  /** Of the call so far. */
  pieces: number;
  /** Of the message: that of its first piece. */
  messageId: string | undefined;
}

interface BegunTask {
  readonly task: StreamedTask;
  readonly attempt: number;
  hasTold: boolean;
}

/** LangGraph's tags of models with a hidden text. */
const UNSEEN_TAGS = new Set(['nostream', 'langsmith:nostream']);

/** Members of the engine's own in the metadata of a call. */
const OWN_METADATA = /^(?:__pregel_|lease_)/;

/**
 * The messages of chat models in one drive of a run, piece by piece, for readers of the run. They are not stored: the
 * result of a task replaces them, and a task that begins anew streams them again.
 */
export class ModelVoices extends BaseCallbackHandler {
  readonly name = 'ModelVoices';
  /** At once, and in the order of the words. */
  override readonly awaitHandlers = true;
  override readonly ignoreChain = true;
  override readonly ignoreAgent = true;
  override readonly ignoreRetriever = true;
  readonly #readers: () => ReadonlySet<TokenReader> | undefined;
  readonly #tasks = new Map<string, BegunTask>();
  readonly #calls = new Map<string, Call>();

  /** @param readers - Those of the run, now. */
  constructor(readers: () => ReadonlySet<TokenReader> | undefined) {
    super();
    this.#readers = readers;
  }

  /** Asks models for their words where the node asks for the whole, and somebody reads them. */
  get lc_prefer_streaming(): boolean {
    return [...(this.#readers() ?? [])].some(({ isThere }) => isThere);
  }

  /** The callbacks of a drive with this one. */
  among(callbacks: Callbacks | undefined): Callbacks {
    if (callbacks === undefined) return [this];
    if (Array.isArray(callbacks)) return [...callbacks, this];
    const copy = callbacks.copy();
    copy.addHandler(this, true);
    return copy;
  }

  /** A task begins, or begins anew. */
  taskBegins(task: StreamedTask): void {
    const before = this.#tasks.get(task.id);
    const attempt = (before?.attempt ?? 0) + 1;
    // A super-step begins when all tasks of the one before have ended.
    for (const [id, { task: other }] of this.#tasks) if (other.step < task.step) this.#tasks.delete(id);
    this.#tasks.set(task.id, { task, attempt, hasTold: false });
    if (before?.hasTold !== true) return;
    this.#tell({ mode: 'restarted', task: task.id, node: task.node, step: task.step, attempt });
  }

  override handleChatModelStart(...[, , runId, , , tags = [], metadata = {}, name]: ModelStart): void {
    const taskNs = metadata['langgraph_checkpoint_ns'];
    if (typeof taskNs !== 'string' || tags.some((tag) => UNSEEN_TAGS.has(tag))) return;
    const begun = this.#tasks.get(ownTaskOf(taskNs));
    if (begun === undefined) return;
    const { id: task, node, step } = begun.task;
    const graphNs = graphNsOf(taskNs);
    const ns = graphNs === '' ? [] : graphNs.split('|');
    const shown = Object.entries(metadata).filter(([member]) => !OWN_METADATA.test(member));
    const about = { tags, ...(name !== undefined && { name }), ...Object.fromEntries(shown) };
    const at = { mode: 'messages', ns, id: runId, task, node, step, attempt: begun.attempt } as const;
    this.#calls.set(runId, {
      of: { ...at, metadata: about },
      hasTokens: false,
      pieces: 0,
      messageId: undefined,
    });
  }

  override handleLLMNewToken(...[token, , runId, , , fields]: NewToken): void {
    const call = this.#calls.get(runId);
    if (call === undefined) return;
    const message = (fields?.chunk as ChatGenerationChunk | undefined)?.message;
    if (token === '' && !isBaseMessage(message)) return;
    call.hasTokens = true;
    this.#say(call, token, isBaseMessage(message) ? message : new AIMessageChunk({ content: token }));
  }

  override handleLLMEnd({ generations }: LLMResult, runId: string): void {
    const call = this.#calls.get(runId);
    if (call === undefined) return;
    this.#calls.delete(runId);
    if (call.hasTokens) return;
    const said = generations[0]?.[0];
    const { message } = (said ?? {}) as { readonly message?: BaseMessage };
    if (said !== undefined) this.#say(call, said.text, message ?? new AIMessageChunk({ content: said.text }));
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#calls.delete(runId);
  }

  #say(call: Call, data: string, message: BaseMessage): void {
    const { of } = call;
    const begun = this.#tasks.get(of.task);
    if (begun?.attempt !== of.attempt) return;
    begun.hasTold = true;
    const own = `run-${of.id}`;
    // The id that the message has in the state: LangChain gives it this one if its provider does not.
    const isNamed = message.id !== undefined && message.id !== null && message.id !== own;
    call.messageId ??= isNamed ? message.id : own;
    const piece = call.pieces;
    call.pieces += 1;
    this.#tell({ ...of, piece, data, chunk: withId(message, call.messageId ?? own) });
  }

  #tell(event: Provisional): void {
    for (const reader of this.#readers() ?? []) reader.hear(event);
  }
}

/** Model and handlers share the piece: it is not changed. */
function withId(message: BaseMessage, id: string): BaseMessage {
  if (message.id === id) return message;
  const copy = Object.create(Object.getPrototypeOf(message) as object) as BaseMessage;
  return Object.assign(copy, message, { id, lc_kwargs: { ...message.lc_kwargs, id } });
}
