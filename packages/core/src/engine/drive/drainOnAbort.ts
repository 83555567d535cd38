import type { RunControl } from '@langchain/langgraph';

/** Why a run is left whose process was told to stop; nobody has said anything about the run. */
export const ASKED_TO_STOP = 'asked to stop';

/** Asks a graph to stop at its next safe point when a signal is aborted. Returns what removes the listeners again. */
export function drainOnAbort(control: RunControl, signals: readonly (AbortSignal | undefined)[]): () => void {
  const requestDrain = (): void => control.requestDrain(ASKED_TO_STOP);
  for (const signal of signals) signal?.addEventListener('abort', requestDrain, { once: true });
  if (signals.some((signal) => signal?.aborted)) requestDrain();
  return () => {
    for (const signal of signals) signal?.removeEventListener('abort', requestDrain);
  };
}
