import {
  Command,
  INTERRUPT,
  type Interrupt,
  isInterrupted,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph';
import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { withOwnSignal } from '../../events/onAbort.ts';
import { isFrameQuestion } from '../gates/question.ts';
import { type OpenQuestion, openQuestions } from '../saver/openQuestions.ts';
import { childThreadsOf, FRAME_CONTEXT, type FrameContext, type FrameRequest } from './recurse.ts';

/** Every turn is one super-step, so LangGraph's own limit has nothing to count. */
const RECURSION_LIMIT = 1_000_000;

/** Shared by all frames of one adapter run. */
export interface FlatRun {
  readonly saver: BaseCheckpointSaver;
  readonly context: FrameContext;
  /** Passed to every frame: callbacks, store, control, `configurable` of the driver. */
  readonly config: LangGraphRunnableConfig;
  readonly signal: AbortSignal | undefined;
  /** Answers of humans by interrupt id, until they are given. */
  readonly answers: Map<string, unknown>;
  /** Called when a super-step is in the saver. */
  readonly onTurn: (threadId: string, output: unknown) => void;
}

/** The result of a turn of a frame. */
type FrameMove =
  | { readonly kind: 'running' }
  | { readonly kind: 'child'; readonly threadId: string }
  | { readonly kind: 'finished'; readonly output: unknown }
  /** Every question left, its own and those of its children, is for a human. `output` is the outermost frame's. */
  | { readonly kind: 'waiting'; readonly output: unknown; readonly interrupts: readonly Interrupt[] };

interface FrameParts {
  readonly threadId: string;
  /** Frames around this one. */
  readonly depth: number;
  readonly request: Omit<FrameRequest, 'input'>;
  readonly firstInput: unknown;
  /** True when its thread had begun before: a kill may have left threads of its children. */
  readonly isContinued: boolean;
}

/**
 * One graph run on the adapter's stack.
 *
 * Invariants:
 *   F1. Between turns its state is in the saver; the frame holds the outputs of finished children only, and the
 *       outermost one what it returns beside its questions.
 *   F2. A child's thread is deleted after the turn that took its output, never before.
 *   F3. Questions are told apart by their payload and answered by interrupt id, never by position.
 */
export class Frame {
  readonly threadId: string;
  readonly depth: number;
  readonly #run: FlatRun;
  readonly #graph: FrameRequest['graph'];
  readonly #inherited: FrameRequest['config'];
  readonly #isContinued: boolean;
  readonly #outputs = new Map<string, unknown>();
  readonly #waiting = new Map<string, readonly Interrupt[]>();
  #next: { readonly input: unknown } | null;
  #open: readonly Interrupt[] = [];
  #output: unknown;
  #taken: readonly string[] = [];

  private constructor(parts: FrameParts, run: FlatRun) {
    const { threadId, depth, request, firstInput, isContinued } = parts;
    this.threadId = threadId;
    this.depth = depth;
    this.#graph = request.graph;
    this.#inherited = request.config;
    this.#isContinued = isContinued;
    this.#run = run;
    this.#next = { input: firstInput };
  }

  /** Starts a run, or goes on with the one its thread holds; the input then counts no more. */
  static async open(threadId: string, depth: number, request: FrameRequest, run: FlatRun): Promise<Frame> {
    const tuple = await run.saver.getTuple({ configurable: { thread_id: threadId } });
    const firstInput =
      tuple === undefined ? request.input : frameResume(humanAnswers(openQuestions(tuple), run.answers));
    return new Frame({ threadId, depth, request, firstInput, isContinued: tuple !== undefined }, run);
  }

  /** Takes one super-step, or says what stands in its way. */
  async advance(): Promise<FrameMove> {
    return this.#next === null ? this.#resolve() : this.#step(this.#next.input);
  }

  /** Takes what a child came to. */
  receive(threadId: string, move: Extract<FrameMove, { output: unknown }>): void {
    if (move.kind === 'finished') this.#outputs.set(threadId, move.output);
    else this.#waiting.set(threadId, move.interrupts);
  }

  async #step(input: unknown): Promise<FrameMove> {
    const output = await withOwnSignal(this.#run.signal, (signal) =>
      this.#graph.invoke(input, this.#config(signal)),
    );
    this.#run.onTurn(this.threadId, output);
    await this.#dropTaken();
    if (!isInterrupted(output)) {
      if (this.#isContinued) await sweepChildren(this.#run.saver, this.threadId, this.#run.context.root);
      return { kind: 'finished', output };
    }

    const { [INTERRUPT]: interrupts, ...values } = output as Record<string, unknown>;
    this.#open = interrupts as readonly Interrupt[];
    if (this.depth === 0) this.#output = values; // F1
    // No question: LangGraph stopped because the super-step was over.
    this.#next = this.#open.length === 0 ? { input: null } : null;
    return { kind: 'running' };
  }

  #resolve(): FrameMove {
    const threads = this.#open.flatMap(({ value }) => (isFrameQuestion(value) ? childThreadsOf(value) : []));
    const threadId = threads.find((thread) => !this.#outputs.has(thread) && !this.#waiting.has(thread));
    if (threadId !== undefined) return { kind: 'child', threadId };

    const answers = { ...this.#childAnswers(), ...humanAnswers(asOpen(this.#open), this.#run.answers) };
    if (Object.keys(answers).length === 0) return this.#wait();
    this.#next = { input: frameResume(answers) };
    this.#open = [];
    return { kind: 'running' };
  }

  /** The questions whose children have all finished, answered. */
  #childAnswers(): Record<string, unknown> {
    const answers: Record<string, unknown> = {};
    const taken: string[] = [];
    for (const { id = '', value } of this.#open) {
      if (!isFrameQuestion(value)) continue;
      const threads = childThreadsOf(value);
      if (!threads.every((thread) => this.#outputs.has(thread))) continue;
      const outputs = threads.map((thread) => this.#outputs.get(thread));
      answers[id] = { for: value.key, value: value.count === null ? outputs[0] : outputs };
      taken.push(...threads);
    }
    this.#taken = taken;
    return answers;
  }

  #wait(): FrameMove {
    const own = this.#open.filter(({ value }) => !isFrameQuestion(value));
    return {
      kind: 'waiting',
      output: this.#output,
      interrupts: [...own, ...[...this.#waiting.values()].flat()],
    };
  }

  async #dropTaken(): Promise<void> {
    for (const threadId of this.#taken) {
      this.#outputs.delete(threadId);
      await this.#run.saver.deleteThread(threadId); // F2
    }
    this.#taken = [];
  }

  #config(signal: AbortSignal): LangGraphRunnableConfig {
    const { config, context, saver } = this.#run;
    const base: unknown = config.configurable?.['recursion_base'];
    return {
      ...config,
      ...this.#inherited,
      configurable: {
        ...config.configurable,
        ...this.#inherited.configurable,
        thread_id: this.threadId,
        recursion_base: (typeof base === 'number' ? base : 0) + this.depth,
        [FRAME_CONTEXT]: context,
        __pregel_checkpointer: saver,
        __pregel_strict_resume: true,
      },
      signal,
      recursionLimit: RECURSION_LIMIT,
      ...ONE_DURABLE_STEP,
    };
  }
}

/** Options of LangGraph's `invoke` that its runnable config does not name. */
const ONE_DURABLE_STEP = { durability: 'sync', interruptAfter: '*' } as const;

/** Takes the answers for these questions out of the map: each is given once. */
function humanAnswers(
  questions: readonly OpenQuestion[],
  answers: Map<string, unknown>,
): Record<string, unknown> {
  const own: Record<string, unknown> = {};
  for (const { interruptId } of questions) {
    if (!answers.has(interruptId)) continue;
    own[interruptId] = answers.get(interruptId);
    answers.delete(interruptId);
  }
  return own;
}

function asOpen(interrupts: readonly Interrupt[]): readonly OpenQuestion[] {
  return interrupts.flatMap(({ id, value }) => (id === undefined ? [] : [{ interruptId: id, value }]));
}

/** Without an answer `null`: LangGraph then runs what is pending, and the node asks again. */
function frameResume(answers: Record<string, unknown>): Command | null {
  return Object.keys(answers).length === 0 ? null : new Command({ resume: answers });
}

/**
 * Deletes the threads of every child a thread has ever asked for, and theirs.
 *
 * A frame deletes its children as it takes their outputs; what a kill in between left is found here, by the
 * questions and answers that stay in the checkpoints.
 *
 * @param root - Thread of the outermost frame, under which every child thread is named.
 */
async function sweepChildren(saver: BaseCheckpointSaver, threadId: string, root: string): Promise<void> {
  const threads = new Set([threadId]);
  for (const thread of threads) {
    for await (const tuple of saver.list({ configurable: { thread_id: thread } })) {
      const children = childrenIn(tuple).filter((child) => child.startsWith(`${root}/`));
      children.forEach(threads.add, threads);
    }
    if (thread !== threadId) await saver.deleteThread(thread);
  }
}

/** A later question of a task takes the place of an earlier one, whose answer then still names the child. */
function childrenIn({ pendingWrites = [] }: CheckpointTuple): readonly string[] {
  return pendingWrites.flatMap(([, channel, value]) => {
    if (channel !== '__interrupt__' && channel !== '__resume__') return [];
    return [value].flat().flatMap(channel === '__resume__' ? answeredThreads : askedThreads);
  });
}

function askedThreads(interrupt: unknown): readonly string[] {
  const { value } = (interrupt ?? {}) as { readonly value?: unknown };
  return isFrameQuestion(value) ? childThreadsOf(value) : [];
}

function answeredThreads(answer: unknown): readonly string[] {
  const { for: key, value } = (answer ?? {}) as { readonly for?: unknown; readonly value?: unknown };
  if (typeof key !== 'string') return [];
  return [key, ...(Array.isArray(value) ? value.map((_, index) => `${key}.${index}`) : [])];
}
