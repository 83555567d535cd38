import { join } from 'node:path';
import type { DurableApp, Principal } from '@devs/core';
import { durable } from '@devs/core/langgraph';
import { serve } from '@hono/node-server';
import { createServer, type ServerOptions } from '../../src/createServer.ts';
import { type Call, chatGraph, echoGraph, mailAgent, postGraph, stepsGraph } from '../programs/graphs.ts';

export const ADA: Principal = { kind: 'human', id: 'ada' };

/** A server over one file, in this process, with what its graphs have called. */
export interface Served {
  readonly url: string;
  readonly calls: readonly string[];
  readonly apps: Readonly<Record<string, DurableApp>>;
  close(): Promise<void>;
}

/** The programs of the tests, durable over one file. */
export function appsOf(file: string, call: Call): Readonly<Record<string, DurableApp>> {
  return {
    echo: durable(echoGraph(call), { file }),
    steps: durable(stepsGraph(call), { file }),
    post: durable(postGraph(call), { file }),
    chat: durable(chatGraph(call), { file }),
    agent: durable(mailAgent(call), { file }),
  };
}

/** Serves the programs of the tests on a free port of this machine, and drives their runs. */
export async function serveApps(dir: string, options: Partial<ServerOptions> = {}): Promise<Served> {
  const calls: string[] = [];
  const apps = appsOf(join(dir, 'state.sqlite'), (what) => calls.push(what));
  const stop = new AbortController();
  const working = Object.values(apps).map((app) => app.work({ signal: stop.signal }));
  const handle = createServer({ apps, identify: () => ADA, hosts: ['127.0.0.1'], ...options });
  const http = await new Promise<{ url: string; close: () => Promise<void> }>((resolve) => {
    const server = serve({ fetch: handle, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve({
        url: `http://127.0.0.1:${port}`,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            if ('closeAllConnections' in server) server.closeAllConnections();
          }),
      }),
    );
  });
  return {
    url: http.url,
    calls,
    apps,
    close: async () => {
      await http.close();
      stop.abort();
      await Promise.all(working);
      for (const app of Object.values(apps)) app.close();
    },
  };
}
