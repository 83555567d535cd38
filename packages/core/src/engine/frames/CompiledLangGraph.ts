import type { LangGraphRunnableConfig } from '@langchain/langgraph';

/** The part of a compiled LangGraph graph that executes it; every `CompiledStateGraph` has it. */
export interface CompiledLangGraph<Input = unknown, Output = unknown> {
  readonly checkpointer?: unknown;
  invoke(input: Input | null, config?: LangGraphRunnableConfig): Promise<Output>;
}

/** @throws TypeError for a graph that would ignore the checkpointer a frame is lent. */
export function assertCanBeSuspended({ checkpointer }: Pick<CompiledLangGraph, 'checkpointer'>): void {
  if (checkpointer !== false) return;
  throw new TypeError('Expected a graph that can be suspended, got one compiled with checkpointer: false.');
}
