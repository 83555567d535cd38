import type { ChangeFeed } from '../state/ChangeFeed.ts';

/** Only our own files, without frames, without text that becomes markup. The icon of the tab is the only picture. */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const EVERY: Readonly<Record<string, string>> = {
  'content-security-policy': CSP,
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** A response of ours: each has the same protections, whatever it carries. */
export const respond = (body: string | ReadableStream<Uint8Array>, type: string, status = 200): Response =>
  new Response(body, { status, headers: { ...EVERY, 'content-type': type } });

export const jsonResponse = (value: object, status = 200): Response =>
  respond(JSON.stringify(value), 'application/json; charset=utf-8', status);

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
