import events from 'node:events';

/**
 * LangGraph's own recursion, or many tasks at once: each super-step of a graph that a node calls, and each task, leaves a
 * listener on the signal of the call around it, and Node.js warns of the eleventh.
 */
export async function runByLangGraph<Result>(invoke: () => Promise<Result>): Promise<Result> {
  const usual = events.defaultMaxListeners;
  events.setMaxListeners(0);
  try {
    return await invoke();
  } finally {
    events.setMaxListeners(usual);
  }
}
