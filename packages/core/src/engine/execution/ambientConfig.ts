// LangChain's config around this code, and work without it.

import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';

/** The config of the innermost LangChain run around this code. */
export function ambientConfig(): LangGraphRunnableConfig | undefined {
  return AsyncLocalStorageProviderSingleton.getRunnableConfig() as LangGraphRunnableConfig | undefined;
}

/**
 * Does `work` as if no graph was running around it. LangGraph passes a node's configuration on to every graph that is
 * called in it: to an app's run, too, which has a lease, a thread and a checkpointer of its own.
 */
export function outsideGraphs<T>(work: () => T): T {
  return AsyncLocalStorageProviderSingleton.getInstance().run(undefined, work);
}

/** Where LangChain keeps the config of the code that it runs. */
export const CHILD_CONFIG = Symbol.for('lc:child_config');

/** Does `work` with this config alone around it. LangChain's `runWithConfig` also makes a run to be traced. */
export function withBareConfig<T>(config: LangGraphRunnableConfig, work: () => T): T {
  const context = { extra: { [CHILD_CONFIG]: config } };
  return AsyncLocalStorageProviderSingleton.getInstance().run(context, work);
}
