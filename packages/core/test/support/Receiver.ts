import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isGenuine } from '../../../../examples/webhooks/verify.ts';

/** A request of a webhook. */
export interface Received {
  readonly id: string;
  readonly run: string;
  readonly type: string;
  readonly isGenuine: boolean;
  readonly body: Readonly<Record<string, unknown>>;
  /** The answer it got. */
  readonly status: number;
}

/** A server that receives webhooks, and answers as the test asks. */
export class Receiver {
  readonly #server: Server;
  readonly received: Received[] = [];

  /** @param answer - The status for the event of this id; `null` ends the connection without one. */
  private constructor(secret: string, answer: (id: string) => number | null) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const body = JSON.parse(text) as Received['body'];
        const id = String(body['id']);
        const status = answer(id);
        this.received.push({
          ...{ id, run: String(body['run']), type: String(body['type']) },
          ...{ isGenuine: isGenuine(request.headers, text, secret), body, status: status ?? 0 },
        });
        if (status === null) request.socket.destroy();
        else response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end('not read');
      });
    });
  }

  static async start(secret: string, answer: (id: string) => number | null = () => 204): Promise<Receiver> {
    const receiver = new Receiver(secret, answer);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Events that were answered with 2xx, each once, in the order of their first such answer. */
  get taken(): readonly Received[] {
    const known = new Set<string>();
    return this.received.filter(({ id, status }) => {
      if (status < 200 || status > 299 || known.has(id)) return false;
      return known.add(id);
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
