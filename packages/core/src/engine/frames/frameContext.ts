import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import type { FrameQuestion } from '../gates/question.ts';
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

export function childThreadsOf({ key, count }: FrameQuestion): readonly string[] {
  return count === null ? [key] : Array.from({ length: count }, (_, index) => `${key}.${index}`);
}
