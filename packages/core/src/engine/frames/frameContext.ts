import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import type { CompiledLangGraph } from './CompiledLangGraph.ts';

/** Key of {@link FrameContext} in LangGraph's `configurable`; absent outside the flat adapter. */
export const FRAME_CONTEXT = 'devs_frame_context';

/** What the adapter lends to the nodes of its frames. */
export interface FrameContext {
  /** Thread of the outermost frame. */
  readonly root: string;
  /** Requested child runs by thread id. In memory only: after a restart the node runs again and requests anew. */
  readonly requests: Map<string, FrameRequest>;
}

export interface FrameRequest {
  readonly graph: CompiledLangGraph;
  readonly input: unknown;
  /** What the child inherits from the node that asked for it. */
  readonly config: Pick<LangGraphRunnableConfig, 'configurable' | 'context' | 'store'>;
}

export function frameContextOf(config: LangGraphRunnableConfig | undefined): FrameContext | null {
  return (config?.configurable?.[FRAME_CONTEXT] as FrameContext | undefined) ?? null;
}

/**
 * The question a node asks for child runs; plain JSON, in the parent's checkpoint.
 *
 * `key` is the child's thread id: root thread, LangGraph's id of the asking task, position of the question in
 * it. All three are the same when the node runs again, so no table is needed to find the child.
 */
export interface FrameQuestion {
  readonly recurse: true;
  readonly key: string;
  /** `null` for one child under `key` itself, else that many under `key.0`, `key.1`, … */
  readonly count: number | null;
}

export function isFrameQuestion(value: unknown): value is FrameQuestion {
  if (typeof value !== 'object' || value === null) return false;
  const { recurse, key } = value as Partial<Record<keyof FrameQuestion, unknown>>;
  return recurse === true && typeof key === 'string';
}

export function childThreadsOf({ key, count }: FrameQuestion): readonly string[] {
  return count === null ? [key] : Array.from({ length: count }, (_, index) => `${key}.${index}`);
}
