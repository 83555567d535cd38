import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  type Command,
  GraphRecursionError,
  getConfig,
  INTERRUPT,
  isCommand,
  type LangGraphRunnableConfig,
  UnknownInterruptError,
} from '@langchain/langgraph';
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
} from '@langchain/langgraph-checkpoint';
import { createDatabase } from '../../db/createDatabase.ts';
import { isFrameQuestion } from '../gates/question.ts';
import { DelegatingSaver } from '../saver/DelegatingSaver.ts';
import { type OpenQuestion, openQuestions } from '../saver/openQuestions.ts';
import { SqliteSaver } from '../saver/SqliteSaver.ts';
import { withSettledTriggers } from '../saver/storedCheckpoint.ts';
import { WindowedSaver } from '../saver/WindowedSaver.ts';
import { type FlatRun, Frame } from './Frame.ts';
import {
  assertCanBeSuspended,
  type CompiledLangGraph,
  childThreadsOf,
  type FrameRequest,
} from './recurse.ts';

export type { CompiledLangGraph };

/** The state of one frame after one super-step; by then it is in the checkpointer. */
export interface FrameCheckpoint {
  readonly threadId: string;
  readonly state: unknown;
}

export interface FlatRunOptions {
  /**
   * Where frames live. A `WindowedSaver` says how many checkpoints stay in memory. @defaultValue the graph's own; without
   * one a temporary file that ends with the call: a question to a human cannot be answered later, nothing can be rewound to.
   */
  readonly checkpointer?: BaseCheckpointSaver;
  /**
   * Thread of the outermost frame. A thread that has begun goes on: its input counts only once. @defaultValue the
   * `thread_id` of `config`, else a new one
   */
  readonly threadId?: string;
  /** Receives every frame's state after each super-step; a `CheckpointWindow` bounds what stays in memory. */
  readonly window?: { push(checkpoint: FrameCheckpoint): void };
  /** Frames that may nest below the outermost one. @defaultValue unlimited */
  readonly maxDepth?: number;
  /** Stops between super-steps, and inside one as far as its node listens. The same call goes on later. */
  readonly signal?: AbortSignal;
  /** Handed to every frame: callbacks, store, run control, and `configurable` such as a lease. */
  readonly config?: LangGraphRunnableConfig;
}

/**
 * Runs a graph and every graph that its nodes {@link recurse} into, in one loop over an explicit stack: one super-step
 * of the top frame per turn [9_ROADMAP-RISK-401].
 *
 * A suspended parent is in the checkpointer, so nesting costs rows instead of call stack. Memory holds the first and
 * the newest `CHECKPOINT_WINDOW` checkpoints of each frame. Checkpoints of the outermost frame stay in the
 * checkpointer; those of a child are deleted after its output was read, and all of them with a temporary file.
 *
 * An interrupt in any frame is returned as in LangGraph, under `__interrupt__`. Resume the whole stack with
 * `runGraphIteratively(graph, new Command({ resume }), { threadId, checkpointer })`. A node's error rejects the call
 * without losing work: the same call tries that node again. (Plain recursion throws it into the parent's node instead.)
 * A node that calls `graph.invoke` itself recurses inside its frame.
 *
 * @throws GraphRecursionError above `maxDepth`; the stack stays and continues under a higher limit.
 * @throws UnknownInterruptError for an answer without a waiting frame. The state is unchanged then.
 * @throws TypeError inside a node (use `recurse` there), or for a graph compiled with `checkpointer: false`, which
 *   cannot be suspended.
 * @throws TypeError or RangeError for an invalid option.
 *
 * @example
 * ```ts
 * const result = await runGraphIteratively(graph, { depth: 200 });
 * ```
 */
export async function runGraphIteratively<Input, Output>(
  graph: CompiledLangGraph<Input, Output>,
  // One `NoInfer`: of a union with it, TypeScript refuses the input of every compiled graph.
  initialState: NoInfer<Input | Command> | null,
  options: FlatRunOptions = {},
): Promise<Output> {
  if (getConfig()?.configurable?.['__pregel_read'] !== undefined) {
    throw new TypeError('runGraphIteratively was called inside a node: use recurse instead.');
  }
  assertFlatRunOptions(options);
  assertCanBeSuspended(graph);
  const request = { graph: graph as CompiledLangGraph, input: initialState, config: {} };
  const own = options.checkpointer ?? graph.checkpointer;
  if (isSaver(own)) return (await runFrames(request, own, options)) as Output;

  const { saver, dispose } = openTemporaryStore();
  try {
    return (await runFrames(request, saver, options)) as Output;
  } finally {
    dispose();
  }
}

/** {@link runGraphIteratively} as an object. */
export const FlatIterativeAdapter = Object.freeze({ run: runGraphIteratively, runGraphIteratively });

async function runFrames(
  request: FrameRequest,
  saver: BaseCheckpointSaver,
  options: FlatRunOptions,
): Promise<unknown> {
  const { threadId = threadIn(options) ?? randomUUID(), maxDepth = Number.POSITIVE_INFINITY } = options;
  const { input } = request;
  const answers = isCommand(input) ? await humanAnswersOf(input, threadId, saver) : new Map();
  const run = flatRunOf(threadId, new FrameSaver(windowed(saver)), answers, options);
  const stack = [await Frame.open(threadId, 0, request, run)];

  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    options.signal?.throwIfAborted();
    const move = await frame.advance();
    if (move.kind === 'running') continue;
    if (move.kind === 'child') {
      if (frame.depth >= maxDepth) throw framesTooDeep(maxDepth);
      stack.push(await openChild(move.threadId, frame, run));
      continue;
    }
    stack.pop();
    const parent = stack.at(-1);
    if (parent === undefined) return frameResult(move);
    parent.receive(frame.threadId, move);
  }
  throw new Error('The stack of frames ended without a result.');
}

/** As `graph.invoke` is told it. */
function threadIn({ config }: FlatRunOptions): string | undefined {
  const id: unknown = config?.configurable?.['thread_id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** The first and the newest checkpoints of each frame are in memory, all of them in the store. */
function windowed(saver: BaseCheckpointSaver): WindowedSaver {
  return saver instanceof WindowedSaver ? saver : new WindowedSaver(saver, { pruneAbove: 0 });
}

async function openChild(threadId: string, parent: Frame, run: FlatRun): Promise<Frame> {
  const request = run.context.requests.get(threadId);
  if (request === undefined)
    throw new TypeError(`Frame ${threadId} was requested by a node that did not execute here.`);
  run.context.requests.delete(threadId);
  return Frame.open(threadId, parent.depth + 1, request, run);
}

function flatRunOf(
  threadId: string,
  saver: BaseCheckpointSaver,
  answers: Map<string, unknown>,
  { window, signal, config = {} }: FlatRunOptions,
): FlatRun {
  const onTurn = (thread: string, state: unknown): void => window?.push({ threadId: thread, state });
  return { saver, config, signal, answers, onTurn, context: { root: threadId, requests: new Map() } };
}

type FrameEnding = Parameters<Frame['receive']>[1];

function frameResult(move: FrameEnding): unknown {
  if (move.kind === 'finished') return move.output;
  return { ...(move.output as object), [INTERRUPT]: move.interrupts };
}

function framesTooDeep(maxDepth: number): GraphRecursionError {
  return new GraphRecursionError(
    `More than ${maxDepth} nested frames. To continue, repeat the call with a higher maxDepth.`,
  );
}

function openTemporaryStore(): { readonly saver: BaseCheckpointSaver; readonly dispose: () => void } {
  const dir = mkdtempSync(join(tmpdir(), 'devs-frames-'));
  const db = createDatabase({ dbPath: join(dir, 'frames.sqlite'), synchronous: 'normal' });
  return {
    saver: new SqliteSaver(db),
    dispose: () => {
      db.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** What frames write to: a frame goes on from a stored checkpoint after every super-step, whatever the checkpointer. */
class FrameSaver extends DelegatingSaver {
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const settled = withSettledTriggers(checkpoint, metadata, newVersions);
    return super.put(config, settled, metadata, newVersions);
  }
}

interface OptionExpectation {
  readonly wanted: string;
  readonly holds: (value: unknown) => boolean;
}

const EXPECTATIONS = {
  checkpointer: { wanted: 'to be a checkpointer', holds: isSaver },
  threadId: { wanted: 'to be a text that is not empty', holds: (id) => typeof id === 'string' && id !== '' },
  window: { wanted: 'to have a push function', holds: hasPush },
  maxDepth: { wanted: 'to be a whole number of at least 0', holds: isDepth },
  signal: { wanted: 'to be an AbortSignal', holds: (signal) => signal instanceof AbortSignal },
} as const satisfies { readonly [Name in keyof FlatRunOptions]: OptionExpectation };

/** @throws TypeError naming the option that cannot be what it is, RangeError for `maxDepth`. */
function assertFlatRunOptions(options: FlatRunOptions): void {
  for (const [name, { wanted, holds }] of Object.entries<OptionExpectation>(EXPECTATIONS)) {
    const value = options[name as keyof FlatRunOptions];
    if (value === undefined || holds(value)) continue;
    const Problem = name === 'maxDepth' ? RangeError : TypeError;
    throw new Problem(`Expected ${name} ${wanted}, got ${inspect(value, { depth: 0 })}.`);
  }
}

/** By its methods: the class may come from another copy of the package. */
function isSaver(value: unknown): value is BaseCheckpointSaver {
  const methods = ['getTuple', 'list', 'put', 'putWrites', 'deleteThread', 'getNextVersion'];
  const saver = Object(value) as Record<string, unknown>;
  return methods.every((name) => typeof saver[name] === 'function');
}

function hasPush(window: unknown): boolean {
  return typeof (window as FlatRunOptions['window'] | null)?.push === 'function';
}

function isDepth(value: unknown): boolean {
  return value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number(value) >= 0);
}

const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/**
 * The answers of a `Command({ resume })` by interrupt id, checked against what the frames really wait for: a bare
 * value needs exactly one question, a map must name open ones. Nothing is written.
 *
 * @throws UnknownInterruptError for an answer that no question waits for, or that several could take.
 * @throws TypeError for a command that does more than resume.
 */
async function humanAnswersOf(
  { resume, update, goto }: Command,
  rootThread: string,
  saver: BaseCheckpointSaver,
): Promise<Map<string, unknown>> {
  const goesElsewhere = goto !== undefined && (!Array.isArray(goto) || goto.length > 0);
  if (resume === undefined || update !== undefined || goesElsewhere) {
    throw new TypeError('Expected a Command with `resume` only: each frame is controlled by its own graph.');
  }
  const pendingIds = (await waitingQuestions(rootThread, saver)).map(({ interruptId }) => interruptId);
  const answers = isAnswerMap(resume) ? Object.entries(resume) : [[onlyOne(pendingIds), resume] as const];
  const unknown = answers.map(([id]) => id).filter((id) => !pendingIds.includes(id));
  if (unknown.length > 0) {
    throw new UnknownInterruptError(`There is no open interrupt ${unknown[0]}`, {
      reason: 'not_pending',
      interruptIds: unknown,
      pendingIds,
    });
  }
  return new Map(answers);
}

/** Human questions of a thread and of the frames below it, read from the saver alone. */
async function waitingQuestions(rootThread: string, saver: BaseCheckpointSaver): Promise<OpenQuestion[]> {
  const threads = [rootThread];
  const found: OpenQuestion[] = [];
  for (const threadId of threads) {
    const tuple = await saver.getTuple({ configurable: { thread_id: threadId } });
    for (const question of tuple === undefined ? [] : openQuestions(tuple)) {
      if (isFrameQuestion(question.value)) threads.push(...childThreadsOf(question.value));
      else found.push(question);
    }
  }
  return found;
}

function onlyOne(pendingIds: readonly string[]): string {
  const [id] = pendingIds;
  if (id !== undefined && pendingIds.length === 1) return id;
  throw new UnknownInterruptError(
    `An answer without an interrupt id needs exactly one open question, found ${pendingIds.length}: answer by interrupt id`,
    { reason: 'ambiguous', pendingIds: [...pendingIds] },
  );
}

function isAnswerMap(resume: unknown): resume is Record<string, unknown> {
  if (typeof resume !== 'object' || resume === null || Array.isArray(resume)) return false;
  const ids = Object.keys(resume);
  return ids.length > 0 && ids.every((id) => INTERRUPT_ID.test(id));
}
