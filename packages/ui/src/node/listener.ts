import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Converts a fetch handler into a listener for `node:http`. Answers an invalid request with 400.
 *
 * @example
 * ```ts
 * createServer(listener(createUi({ dir: '.devs', hosts: ['localhost:8080'], identify }))).listen(8080, '127.0.0.1');
 * ```
 */
export function listener(handler: (request: Request) => Promise<Response>): RequestListener {
  return (incoming, outgoing) => {
    handleRequest(handler, incoming, outgoing).catch(() => outgoing.destroy());
  };
}

async function handleRequest(
  handler: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const request = toRequest(incoming);
  if (request === null) {
    outgoing.writeHead(400, { connection: 'close' }).end();
    return;
  }
  const { status, headers, body } = await handler(request);
  outgoing.writeHead(status, Object.fromEntries(headers));
  if (body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]), outgoing);
}

/** `null` for a host or a method that cannot be part of one. */
function toRequest(incoming: IncomingMessage): Request | null {
  const { method = 'GET', url = '/', headers, rawHeaders } = incoming;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  try {
    const pairs = rawHeaders.flatMap((name, at): [string, string][] =>
      at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? '']] : [],
    );
    return new Request(new URL(url, `http://${headers.host ?? ''}`), {
      method,
      headers: new Headers(pairs),
      ...(hasBody && {
        body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>,
        duplex: 'half' as const,
      }),
    });
  } catch {
    return null;
  }
}
