import { errorView } from './ApiError.ts';
import type { EventStreamOptions } from './eventStream.ts';
import { serialize } from './serialize.ts';

/** A client gives up on a silent answer, ms. */
const SPACE_EVERY_MS = 5_000;

/**
 * Answers with JSON that may be long in coming: white space before it keeps the connection open. A failure is `__error__`, as the
 * status has been sent.
 *
 * @param work - Ends early when its signal is aborted.
 */
export function slowJson(
  work: (signal: AbortSignal) => Promise<unknown>,
  { streams, reader, headers, onLeft }: EventStreamOptions,
): Response {
  const { stop, end } = streams.begin(reader);
  const encoder = new TextEncoder();
  let spaces: NodeJS.Timeout | undefined;
  const finish = (): void => {
    clearInterval(spaces);
    end();
  };
  const body = new ReadableStream<Uint8Array>({
    start: async (controller) => {
      spaces = setInterval(() => controller.enqueue(encoder.encode('\n')), SPACE_EVERY_MS).unref();
      const text = await work(stop.signal).then(serialize, (error: unknown) => {
        const { code, message } = errorView(error).body;
        return serialize({ __error__: { error: code, message } });
      });
      finish();
      if (stop.signal.aborted) return;
      controller.enqueue(encoder.encode(text));
      controller.close();
    },
    cancel: () => {
      finish();
      onLeft?.();
      stop.abort();
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/json', ...headers } });
}
