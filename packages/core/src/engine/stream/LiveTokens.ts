import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import type { Callbacks } from '@langchain/core/callbacks/manager';
import type { LLMResult } from '@langchain/core/outputs';
import type { RestartedEvent, TokensChunk } from './StreamEvent.ts';
import { graphNsOf, ownTaskOf } from './tasks.ts';

/** A task of the run's own graph. */
export interface StreamedTask {
  readonly id: string;
  readonly node: string;
  readonly step: number;
}

type Provisional = TokensChunk | RestartedEvent;

type ModelStart = Parameters<NonNullable<BaseCallbackHandler['handleChatModelStart']>>;

/** A call of a chat model. */
interface Call {
  readonly of: Omit<TokensChunk, 'data'>;
  hasTokens: boolean;
}

/** Provisional events that wait for their reader; a slower one misses the oldest ones. */
const MAX_WAITING = 10_000;

/** LangGraph's tags of models with a hidden text. */
const UNSEEN_TAGS = new Set(['nostream', 'langsmith:nostream']);

/**
 * What chat models say while a run is driven, piece by piece as they say it. In no file: when the task that a model was asked in
 * has ended, its result is what counts, and when it begins anew, it says all of it again.
 */
export class LiveTokens extends BaseCallbackHandler {
  readonly name = 'LiveTokens';
  /** At once, and in the order of the words. */
  override readonly awaitHandlers = true;
  /** Asks models for their words where the node asks for the whole. */
  readonly lc_prefer_streaming = true;
  readonly #subgraphs: boolean;
  readonly #tasks = new Map<
    string,
    { readonly task: StreamedTask; readonly attempt: number; hasTold: boolean }
  >();
  readonly #calls = new Map<string, Call>();
  /** With the newest lasting event at that time. */
  readonly #waiting: { readonly after: number; readonly event: Provisional }[] = [];
  readonly #lastSeq: () => number;
  readonly #wake: () => void;

  constructor(
    subgraphs: boolean,
    { lastSeq, wake }: { readonly lastSeq: () => number; readonly wake: () => void },
  ) {
    super();
    this.#subgraphs = subgraphs;
    this.#lastSeq = lastSeq;
    this.#wake = wake;
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

  /** What was told before a lasting event; all of it where that is not known yet. */
  before(seq: number = Number.POSITIVE_INFINITY): readonly Provisional[] {
    const end = this.#waiting.findIndex(({ after }) => after >= seq);
    const told = this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
    return told.map(({ event }) => event);
  }

  override handleChatModelStart(...[, , runId, , , tags = [], metadata = {}]: ModelStart): void {
    const taskNs = metadata['langgraph_checkpoint_ns'];
    if (typeof taskNs !== 'string' || tags.some((tag) => UNSEEN_TAGS.has(tag))) return;
    const graphNs = graphNsOf(taskNs);
    const begun = this.#tasks.get(ownTaskOf(taskNs));
    if (begun === undefined || (graphNs !== '' && !this.#subgraphs)) return;
    const { id: task, node, step } = begun.task;
    const ns = graphNs === '' ? [] : graphNs.split('|');
    const of = { mode: 'messages', ns, id: runId, task, node, step, attempt: begun.attempt } as const;
    this.#calls.set(runId, { of, hasTokens: false });
  }

  override handleLLMNewToken(token: string, _at: unknown, runId: string): void {
    const call = this.#calls.get(runId);
    if (call === undefined || token === '') return;
    call.hasTokens = true;
    this.#say(call, token);
  }

  override handleLLMEnd({ generations }: LLMResult, runId: string): void {
    const call = this.#calls.get(runId);
    if (call === undefined) return;
    this.#calls.delete(runId);
    if (!call.hasTokens) this.#say(call, generations[0]?.[0]?.text ?? '');
  }

  override handleLLMError(_error: unknown, runId: string): void {
    this.#calls.delete(runId);
  }

  #say({ of }: Call, text: string): void {
    const begun = this.#tasks.get(of.task);
    if (text === '' || begun?.attempt !== of.attempt) return;
    begun.hasTold = true;
    this.#tell({ ...of, data: text });
  }

  #tell(event: Provisional): void {
    if (this.#waiting.length >= MAX_WAITING) this.#waiting.shift();
    this.#waiting.push({ after: this.#lastSeq(), event });
    this.#wake();
  }
}
