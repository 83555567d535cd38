import { getConfig, interrupt, type LangGraphRunnableConfig } from '@langchain/langgraph';
import { answerFor, type FrameQuestion } from '../gates/question.ts';

/** The part of a compiled LangGraph graph that executes it; every `CompiledStateGraph` has it. */
export interface CompiledLangGraph<Input = unknown, Output = unknown> {
  readonly checkpointer?: unknown;
  invoke(input: Input | null, config?: LangGraphRunnableConfig): Promise<Output>;
}

/** One child run of {@link recurseAll}. */
export interface RecurseCall<Input, Output> {
  readonly graph: CompiledLangGraph<Input, Output>;
  readonly input: NoInfer<Input>;
}

/**
 * Runs a graph from inside a node and returns its final state.
 *
 * In plain LangGraph this is `graph.invoke`. Under {@link runGraphIteratively} the node is suspended, the child runs as
 * its own frame, and the node runs again from its first line with the child's state: k calls run the code before them k
 * + 1 times. Put costs and side effects into a step. Call it before the first `await` of a branch, or after its other
 * calls: questions are matched by position.
 *
 * @throws TypeError under the adapter for a graph compiled with `checkpointer: false`, which cannot be suspended.
 *
 * @example
 * ```ts
 * const node = async (state, config) => ({ parts: [await recurse(graph, { depth: state.depth - 1 }, config)] });
 * ```
 */
export async function recurse<Input, Output>(
  graph: CompiledLangGraph<Input, Output>,
  input: NoInfer<Input>,
  config?: LangGraphRunnableConfig,
): Promise<Output> {
  const ambient = getConfig() as LangGraphRunnableConfig | undefined;
  const frame = frameContextOf(ambient);
  if (frame === null) return graph.invoke(input, config);
  const question: FrameQuestion = { recurse: true, key: frameKey(frame, ambient), count: null };
  return askForFrames(question, [{ graph, input }], { frame, config: config ?? ambient }) as Output;
}

/**
 * {@link recurse} for many children at once: one question, so the node runs once more in total. Plain LangGraph runs
 * them one after the other.
 */
export async function recurseAll<Input, Output>(
  calls: readonly RecurseCall<Input, Output>[],
  config?: LangGraphRunnableConfig,
): Promise<Output[]> {
  const ambient = getConfig() as LangGraphRunnableConfig | undefined;
  const frame = frameContextOf(ambient);
  if (frame === null || calls.length === 0) return invokeAll(calls, config);
  const question: FrameQuestion = { recurse: true, key: frameKey(frame, ambient), count: calls.length };
  return askForFrames(question, calls, { frame, config: config ?? ambient }) as Output[];
}

async function invokeAll<Input, Output>(
  calls: readonly RecurseCall<Input, Output>[],
  config: LangGraphRunnableConfig | undefined,
): Promise<Output[]> {
  const outputs: Output[] = [];
  for (const { graph, input } of calls) outputs.push(await graph.invoke(input, config));
  return outputs;
}

interface Asker {
  readonly frame: FrameContext;
  readonly config: LangGraphRunnableConfig | undefined;
}

/** Registers the children, then suspends the node until their states are there. */
function askForFrames(
  question: FrameQuestion,
  calls: readonly RecurseCall<unknown, unknown>[],
  { frame, config }: Asker,
): unknown {
  const threads = childThreadsOf(question);
  for (const [index, { graph, input }] of calls.entries()) {
    assertCanBeSuspended(graph);
    const request: FrameRequest = { graph, input, config: inherited(config) };
    frame.requests.set(threads[index] as string, request);
  }
  for (;;) {
    const own = answerFor(question.key, interrupt<FrameQuestion, unknown>(question));
    if (own === null) continue;
    for (const thread of threads) frame.requests.delete(thread);
    return own.value;
  }
}

/** LangGraph's own keys name the asking task; the child has its own. */
function inherited(config: LangGraphRunnableConfig | undefined): FrameRequest['config'] {
  const { configurable = {}, context, store } = config ?? {};
  const own = Object.entries(configurable).filter(
    ([key]) => !/^(?:__pregel_|checkpoint_|thread_id$)/.test(key),
  );
  return {
    configurable: Object.fromEntries(own),
    ...(context !== undefined && { context }),
    ...(store !== undefined && { store }),
  };
}

/** LangGraph counts a task's questions from −1 and starts anew on every execution, retries included. */
function frameKey({ root }: FrameContext, config: LangGraphRunnableConfig | undefined): string {
  const configurable = config?.configurable ?? {};
  const { interruptCounter } = configurable['__pregel_scratchpad'] as { readonly interruptCounter: number };
  return `${root}/${String(configurable['__pregel_task_id'])}/${interruptCounter + 1}`;
}

/** @throws TypeError for a graph that would ignore the checkpointer a frame is lent. */
export function assertCanBeSuspended({ checkpointer }: Pick<CompiledLangGraph, 'checkpointer'>): void {
  if (checkpointer !== false) return;
  throw new TypeError('Expected a graph that can be suspended, got one compiled with checkpointer: false.');
}

/** Key of {@link FrameContext} in LangGraph's `configurable`; absent outside the flat adapter. */
export const FRAME_CONTEXT = 'devs_frame_context';

/** Lent by the adapter to the nodes of its frames. */
export interface FrameContext {
  /** Thread of the outermost frame. */
  readonly root: string;
  /** Requested child runs by thread id. In memory only: after a restart the node runs again and requests anew. */
  readonly requests: Map<string, FrameRequest>;
}

export interface FrameRequest {
  readonly graph: CompiledLangGraph;
  readonly input: unknown;
  /** Inherited by the child from the node that asked for it. */
  readonly config: Pick<LangGraphRunnableConfig, 'configurable' | 'context' | 'store'>;
}

function frameContextOf(config: LangGraphRunnableConfig | undefined): FrameContext | null {
  return (config?.configurable?.[FRAME_CONTEXT] as FrameContext | undefined) ?? null;
}

export function childThreadsOf({ key, count }: FrameQuestion): readonly string[] {
  return count === null ? [key] : Array.from({ length: count }, (_, index) => `${key}.${index}`);
}
