import { Runnable } from '@langchain/core/runnables';

/** A node in a builder. */
export interface NodeRunnable {
  invoke(state: unknown, config: object): Promise<unknown>;
}

/** LangGraph's wrapper of a node that is a function; a test compares it with the installed version. */
interface FunctionRunnable extends NodeRunnable {
  readonly trace: false;
  /** Added to the configuration of a call: its tags. */
  readonly config?: object;
  /** Whether a runnable that it returns is run. */
  readonly recurse: boolean;
  func(state: unknown, config: object): unknown;
}

/**
 * How a guarded node calls the author's. A function is called as it is: its wrapper would set up once more the context
 * and the trace that the guard's own wrapper has just set up, which costs a tenth of a super-step.
 */
export function callOf(runnable: NodeRunnable): (state: unknown, config: object) => Promise<unknown> {
  if (!isFunctionRunnable(runnable)) return (state, config) => runnable.invoke(state, config);
  return async (state, config) => {
    const returned = await runnable.func(state, config);
    return Runnable.isRunnable(returned) ? await returned.invoke(state, config) : returned;
  };
}

function isFunctionRunnable(runnable: NodeRunnable): runnable is FunctionRunnable {
  const { trace, func, recurse, config } = runnable as Partial<FunctionRunnable>;
  return trace === false && typeof func === 'function' && recurse === true && config === undefined;
}
