import type { RunControl } from '@langchain/langgraph';

/** Asks a graph to stop at its next safe point when a signal is aborted. Returns what removes the listeners again. */
export function drainOnAbort(control: RunControl, signals: readonly (AbortSignal | undefined)[]): () => void {
  const requestDrain = (): void => control.requestDrain('asked to stop');
  for (const signal of signals) signal?.addEventListener('abort', requestDrain, { once: true });
  if (signals.some((signal) => signal?.aborted)) requestDrain();
  return () => {
    for (const signal of signals) signal?.removeEventListener('abort', requestDrain);
  };
}
