import type { Server } from 'node:http';
import { join } from 'node:path';
import type { Principal } from '@devs/core';
import { durable } from '@devs/core/langgraph';
import { serve } from '@hono/node-server';
import { makeStateFile } from '../../../core/test/support/fixtures.ts';
import { createServer, type ServerHandler, type ServerOptions } from '../../src/createServer.ts';
import { type Call, chatGraph, echoGraph, mailAgent, postGraph, stepsGraph } from '../programs/graphs.ts';

export const ADA: Principal = { kind: 'human', id: 'ada' };

/** A server over one file, in this process, with what its graphs have called. */
export interface Served {
  readonly url: string;
  readonly calls: readonly string[];
  readonly apps: ReturnType<typeof appsOf>;
  /** Asks the server without a socket. */
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>;
  close(): Promise<void>;
}

/** The programs of the tests, durable over one file. */
export function appsOf(file: string, call: Call) {
  return {
    echo: durable(echoGraph(call), { file, name: 'echo' }),
    steps: durable(stepsGraph(call), { file, name: 'steps' }),
    post: durable(postGraph(call), { file, name: 'post' }),
    chat: durable(chatGraph(call), { file, name: 'chat' }),
    declared: durable(echoGraph(call), {
      file,
      name: 'declared',
      gates: { echo: ({ text }) => ({ text }) },
    }),
    agent: durable(mailAgent(call), { file, name: 'agent' }),
  };
}

/** Serves the programs of the tests on a free port of this machine, and drives their runs. */
export async function serveApps(dir: string, options: Partial<ServerOptions> = {}): Promise<Served> {
  const calls: string[] = [];
  const file = join(dir, 'state.sqlite');
  makeStateFile(file);
  const apps = appsOf(file, (what) => calls.push(what));
  let handle: ServerHandler | undefined;
  const { server, port } = await listen(async (request) => {
    if (handle === undefined) throw new Error('Asked before it was ready.');
    return handle(request);
  });
  const host = `127.0.0.1:${port}`;
  const handler = createServer({
    apps,
    identify: () => ADA,
    authorize: () => true,
    hosts: [host],
    work: true,
    ...options,
  });
  handle = handler;
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await handler.close();
    for (const app of Object.values(apps)) app.close();
  };
  const ask = (path: string, init?: RequestInit): Promise<Response> =>
    handler(new Request(`http://${host}${path}`, init));
  return {
    url: `http://${host}`,
    calls,
    apps,
    ask,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

function listen(
  fetch: (request: Request) => Promise<Response>,
): Promise<{ readonly server: Server; readonly port: number }> {
  return new Promise((resolve) => {
    const server = serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve({ server: server as Server, port }),
    );
  });
}
