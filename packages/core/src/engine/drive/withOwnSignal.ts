import { onAbort } from '../../events/onAbort.ts';

/**
 * Does `work` with a signal of its own that follows `outer`. LangGraph leaves a listener on the signal of every call of a
 * graph; one that lives as long as a process would collect them.
 */
export async function withOwnSignal<T>(
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const forget = onAbort(outer, () => own.abort(outer?.reason));
  try {
    return await work(own.signal);
  } finally {
    forget();
  }
}
