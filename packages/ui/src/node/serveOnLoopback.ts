import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listener } from './listener.ts';

export interface LoopbackOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** Creates the handler for the `Host` values of the server. */
  readonly handler: (hosts: readonly string[]) => (request: Request) => Promise<Response>;
}

export interface Loopback {
  readonly port: number;
  /** Ends the server and all its connections. */
  close(): Promise<void>;
}

/** How often another free port is tried: both addresses have to have it. */
const ATTEMPTS = 5;

/**
 * Serves a handler to this machine only: on 127.0.0.1 and, if available, on ::1, on one port.
 *
 * @throws The system's error, such as `EADDRINUSE` for a used port.
 */
export async function serveOnLoopback({ port: wanted, handler }: LoopbackOptions): Promise<Loopback> {
  for (let attempt = 1; ; attempt += 1) {
    const late: { listener: RequestListener } = { listener: (_incoming, outgoing) => outgoing.destroy() };
    const v4 = await listen(wanted, '127.0.0.1', late);
    const { port } = v4.address() as AddressInfo;
    try {
      const servers = [v4, ...(await besides(port, late))];
      late.listener = listener(handler([`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]));
      return { port, close: () => closeAll(servers) };
    } catch (error) {
      await closeAll([v4]);
      if (wanted !== 0 || attempt === ATTEMPTS || errorCodeOf(error) !== 'EADDRINUSE') throw error;
    }
  }
}

async function besides(
  port: number,
  late: { readonly listener: RequestListener },
): Promise<readonly Server[]> {
  try {
    return [await listen(port, '::1', late)];
  } catch (error) {
    if (errorCodeOf(error) === 'EADDRNOTAVAIL' || errorCodeOf(error) === 'EAFNOSUPPORT') return [];
    throw error;
  }
}

async function listen(
  port: number,
  host: string,
  late: { readonly listener: RequestListener },
): Promise<Server> {
  const server = createServer((incoming, outgoing) => late.listener(incoming, outgoing));
  server.listen({ port, host, ipv6Only: true });
  await once(server, 'listening');
  return server;
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map((server) => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      return closed;
    }),
  );
}

const errorCodeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code;
