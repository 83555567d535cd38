import { once } from 'node:events';
import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends exactly this head and body over a socket of its own and reads what comes back. */
export async function rawRequest(
  port: number,
  { line, headers, body = '' }: { line: string; headers: readonly string[]; body?: string },
): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  // Kept open: a server takes one that is half closed for one that has gone.
  socket.write([`${line} HTTP/1.1`, ...headers, ...length, 'Connection: close', '', body].join('\r\n'));
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    // A stream of events does not end by itself.
    if (/text\/event-stream[\s\S]*event: change/.test(text)) socket.destroy();
  });
  await once(socket, 'close');
  const [head = '', ...rest] = text.split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body: rest.join('\r\n\r\n') };
}
