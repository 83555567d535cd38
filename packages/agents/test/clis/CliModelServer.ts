import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Body, Model, Protocol, Turn, Wire } from './Turn.ts';

/** What is said to a wrong key. */
export const REFUSED = 'This key is not allowed in.';

export interface CliModelServerOptions {
  readonly protocol: Protocol;
  readonly model: Model;
  /** The one key that is let in. */
  readonly key: string;
}

/**
 * Stands for a provider on loopback. It is a proxy too, one that lets nothing through: whatever a CLI wants elsewhere
 * is refused and remembered.
 */
export class CliModelServer {
  readonly turns: Turn[] = [];
  /** Requests with a key that is not let in. */
  refused = 0;
  /** Hosts that were asked for. */
  readonly elsewhere = new Set<string>();
  /** Who answers. */
  model: Model;
  readonly #options: CliModelServerOptions;
  readonly #server: Server;

  private constructor(options: CliModelServerOptions) {
    this.#options = options;
    this.model = options.model;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    this.#server.on('connect', ({ url = '' }, socket) => {
      this.elsewhere.add(url.replace(/:443$/, ''));
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
  }

  static async start(options: CliModelServerOptions): Promise<CliModelServer> {
    const server = new CliModelServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { protocol, key } = this.#options;
    const { pathname } = new URL(request.url ?? '/', this.url);
    const text = await textOf(request);
    if (request.method !== 'POST' || !protocol.asks(pathname))
      return refuse(response, 404, 'not_found_error');
    if (protocol.keyOf(request.headers) !== key) {
      this.refused += 1;
      return refuse(response, 401, 'authentication_error');
    }
    const body = JSON.parse(text) as Body;
    const turn = protocol.read(body);
    this.turns.push(turn);
    const say = this.model(turn);
    if (say.kind === 'silence') return;
    if (say.kind === 'break') return broken(response);
    send(response, protocol.word(say, { body, path: pathname, id: String(this.turns.length) }));
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

function refuse(response: ServerResponse, status: number, type: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' });
  response.end(JSON.stringify({ type: 'error', error: { type, message: REFUSED, code: status } }));
}

function broken(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: {"type":"mess', () => response.destroy());
}

function send(response: ServerResponse, wire: Wire): void {
  if (wire.kind === 'json') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(wire.value));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const lines = wire.events.map(
    ({ name, data }) => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`,
  );
  response.end(lines.join(''));
}
