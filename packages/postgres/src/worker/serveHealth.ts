import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface HealthSource {
  /** Why the worker takes no runs; `null` where it does. */
  notReady(): Promise<string | null>;
  /** In Prometheus' text format. */
  metrics(): Promise<string>;
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

/** A loop that stood still for so long makes calls late and looks dead to others, ms. */
const STUCK_MS = 10_000;

interface HealthAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const plainAnswer = (status: number, text: string): HealthAnswer => ({
  status,
  type: 'text/plain; charset=utf-8',
  text: `${text}\n`,
});

/** `/livez`, `/readyz` and `/metrics` on all addresses of the host: what an orchestrator of containers asks. Nothing in it is secret. */
export async function serveHealth(port: number, source: HealthSource): Promise<HealthServer> {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const live = async (): Promise<HealthAnswer> => {
    const stood = Math.round(delay.max / 1e6); // since it was asked the last time
    delay.reset();
    return plainAnswer(stood > STUCK_MS ? 503 : 200, `the event loop was blocked for up to ${stood} ms`);
  };
  const routes: ReadonlyMap<string, () => Promise<HealthAnswer>> = new Map([
    ['/livez', live],
    [
      '/readyz',
      async () => {
        const why = await source.notReady();
        return why === null ? plainAnswer(200, 'ready') : plainAnswer(503, why);
      },
    ],
    [
      '/metrics',
      async () => ({
        status: 200,
        type: 'text/plain; version=0.0.4; charset=utf-8',
        text: await source.metrics(),
      }),
    ],
  ]);
  const answerTo = async ({ method, url = '/' }: IncomingMessage): Promise<HealthAnswer> => {
    const answer = method === 'GET' ? routes.get(new URL(url, 'http://health').pathname) : undefined;
    try {
      return (await answer?.()) ?? plainAnswer(404, 'not found');
    } catch (error) {
      return plainAnswer(503, String(error));
    }
  };
  const server = createServer((request, response) => {
    void answerTo(request).then((answer) => writeAnswer(response, answer));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      delay.disable();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function writeAnswer(response: ServerResponse, { status, type, text }: HealthAnswer): void {
  response.writeHead(status, { 'content-type': type });
  response.end(text);
}
