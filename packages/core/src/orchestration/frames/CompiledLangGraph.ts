import type { LangGraphRunnableConfig } from '@langchain/langgraph';

/** The part of a compiled LangGraph graph that is needed to run it; any `CompiledStateGraph` has it. */
export interface CompiledLangGraph<Input = unknown, Output = unknown> {
  readonly checkpointer?: unknown;
  invoke(input: Input | null, config?: LangGraphRunnableConfig): Promise<Output>;
}
