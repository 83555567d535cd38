import type { RunControl } from '@langchain/langgraph';
import { onAbort } from '../../events/onAbort.ts';

/** Why a run is left whose process was told to stop; nobody has said anything about the run. */
export const ASKED_TO_STOP = 'asked to stop';

/** Asks a graph to stop at its next safe point when a signal is aborted. Returns what takes that back. */
export function drainOnAbort(control: RunControl, signals: readonly (AbortSignal | undefined)[]): () => void {
  const forget = signals.map((signal) => onAbort(signal, () => control.requestDrain(ASKED_TO_STOP)));
  return () => {
    for (const each of forget) each();
  };
}
