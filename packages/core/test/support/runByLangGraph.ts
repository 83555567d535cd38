import events from 'node:events';

/**
 * Runs a graph to its end in one call of LangGraph's, which leaves listeners on the signal of that call; Node.js warns of
 * the eleventh. The engine makes one call per super-step.
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
