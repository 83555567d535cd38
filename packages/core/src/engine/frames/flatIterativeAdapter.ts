import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunnableConfig } from '@langchain/core/runnables';
import { type Command, GraphRecursionError, getConfig, INTERRUPT, isCommand } from '@langchain/langgraph';
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
} from '@langchain/langgraph-checkpoint';
import { createDatabase } from '../../db/createDatabase.ts';
import { DelegatingSaver } from '../saver/DelegatingSaver.ts';
import { SqliteSaver } from '../saver/SqliteSaver.ts';
import { withSettledTriggers } from '../saver/settledTriggers.ts';
import { WindowedSaver } from '../saver/WindowedSaver.ts';
import { assertCanBeSuspended, type CompiledLangGraph } from './CompiledLangGraph.ts';
import { assertFlatRunOptions, type FlatRunOptions, isSaver } from './FlatRunOptions.ts';
import { type FlatRun, Frame } from './Frame.ts';
import type { FrameRequest } from './frameContext.ts';
import { humanAnswersOf } from './humanAnswers.ts';

export type { CompiledLangGraph } from './CompiledLangGraph.ts';
export type { FlatRunOptions, FrameCheckpoint } from './FlatRunOptions.ts';

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
