import type { ChangeFeed } from '../state/ChangeFeed.ts';

/** Between two signs of life, ms: a page that hears none for longer asks anew. */
const ALIVE_EVERY_MS = 10_000;

/** `change` at once and whenever there is something new, and comments in between; ends when its reader goes. */
export function eventStream(feed: ChangeFeed): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let leave = (): void => {};
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const tell = (text: string) => (): void => controller.enqueue(encoder.encode(text));
      const change = tell('event: change\ndata: {}\n\n');
      const alive = setInterval(tell(': alive\n\n'), ALIVE_EVERY_MS);
      alive.unref();
      const unsubscribe = feed.subscribe(change);
      leave = () => {
        clearInterval(alive);
        unsubscribe();
      };
      change();
    },
    cancel: () => leave(),
  });
}
