const listening = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `act` once a signal is aborted, at once where it is; returns what takes that back. A service gives one signal to all
 * of its runs and readers, and Node.js warns of a leak at the eleventh listener: a signal has one here, whoever listens.
 */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal?.aborted === true) act();
  if (signal === undefined || signal.aborted) return () => {};
  const acts = listening.get(signal) ?? listenTo(signal);
  const own = (): void => act(); // the same function may be given twice
  acts.add(own);
  return () => void acts.delete(own);
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const acts = new Set<() => void>();
  listening.set(signal, acts);
  const callAll = (): void => {
    for (const act of acts) act();
  };
  signal.addEventListener('abort', callAll, { once: true });
  return acts;
}
