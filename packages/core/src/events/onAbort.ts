/** Whether one of them is aborted. */
export const isAborted = (signals: readonly (AbortSignal | undefined)[]): boolean =>
  signals.some((signal) => signal?.aborted === true);

/** What is done once one signal is aborted, and what ends listening to it. */
type Acts = Set<() => void> & { readonly stop: () => void };

const abortListeners = new WeakMap<AbortSignal, Acts>();

/**
 * Calls `act` once a signal is aborted, at once where it is; returns what takes that back. A service gives one signal to all
 * of its runs and readers, and Node.js warns of a leak at the eleventh listener: a signal has one here, whoever listens.
 */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal?.aborted === true) act();
  if (signal === undefined || signal.aborted) return () => {};
  const acts = abortListeners.get(signal) ?? listenTo(signal);
  const own = (): void => act(); // the same function may be given twice
  acts.add(own);
  return () => {
    if (acts.delete(own) && acts.size === 0) acts.stop();
  };
}

function listenTo(signal: AbortSignal): Acts {
  const callAll = (): void => {
    for (const act of acts) act();
  };
  const stop = (): void => {
    signal.removeEventListener('abort', callAll);
    abortListeners.delete(signal);
  };
  const acts = Object.assign(new Set<() => void>(), { stop });
  signal.addEventListener('abort', callAll, { once: true });
  abortListeners.set(signal, acts);
  return acts;
}

/**
 * Does `work` with a signal of its own that follows `outer`. LangGraph leaves a listener on the signal of every call of a
 * graph; one that lives as long as a process would collect them.
 */
export async function withOwnSignal<T>(
  outer: AbortSignal | undefined | readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const outers = Array.isArray(outer) ? outer : [outer];
  const forget = outers.map((each: AbortSignal | undefined) => onAbort(each, () => own.abort(each?.reason)));
  try {
    return await work(own.signal);
  } finally {
    for (const each of forget) each();
  }
}

/** The error that LangGraph throws for an aborted signal. */
export function abortError({ reason }: AbortSignal): Error {
  if (reason instanceof Error) return reason;
  return new Error(typeof reason === 'string' ? reason : 'Aborted');
}
