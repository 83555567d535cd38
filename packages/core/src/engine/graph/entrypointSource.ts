// Graphs of `entrypoint()` in LangGraph's functional API: one node, with a function that calls tasks.

import type { Runnable } from '@langchain/core/runnables';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';

/** Its return value, and the `previous` of its next turn. */
export const RETURN_CHANNELS = ['__end__', '__previous__'] as const;

/** For its types. The channel tells it from other graphs. */
export interface EntrypointSource<Input = unknown, Output = unknown> {
  readonly lg_is_pregel: boolean;
  readonly channels: { readonly __previous__: unknown };
  readonly '~InputType': Input;
  readonly '~OutputType': Output;
}

/** The function of an entrypoint, as LangGraph wraps it. */
export interface EntrypointBody extends Runnable {
  func(input: unknown, config: LangGraphRunnableConfig): unknown;
}

/** The fields of an entrypoint that are read here; a test compares them with the installed version. */
export interface EntrypointGraph {
  readonly lg_is_pregel: true;
  readonly nodes: Readonly<Record<string, { readonly bound: EntrypointBody }>>;
  readonly channels: Readonly<Record<string, unknown>>;
  withConfig(config: object): EntrypointGraph;
}

/** Whether a compiled graph is one of `entrypoint()`. */
export function isEntrypoint(graph: unknown): graph is EntrypointGraph {
  const { lg_is_pregel, builder, channels } = Object(graph) as Partial<EntrypointGraph> & {
    readonly builder?: unknown;
  };
  if (lg_is_pregel !== true || builder !== undefined) return false;
  return RETURN_CHANNELS.every((name) => Object.hasOwn(Object(channels) as object, name));
}
