import type { Principal } from '@devs/core';
import { Hono } from 'hono';
import { Access, type Authorize } from './access/Access.ts';
import { Assistants } from './apps/Assistants.ts';
import type { ServedApp } from './apps/ServedApp.ts';
import { startWorkers } from './apps/workers.ts';
import { assistantRoutes } from './assistants/assistantRoutes.ts';
import { cronRoutes } from './crons/cronRoutes.ts';
import { ApiError, errorView, notFound } from './http/ApiError.ts';
import { allowOrigin, assertReach, preflight, type Reach } from './http/guard.ts';
import { OpenStreams } from './http/OpenStreams.ts';
import { readBody } from './http/readBody.ts';
import { json } from './http/serialize.ts';
import { metaRoutes, notOfferedRoutes } from './meta/metaRoutes.ts';
import { protocolRoutes } from './protocol/protocolRoutes.ts';
import { runRoutes } from './runs/runRoutes.ts';
import type { Env, Served } from './Served.ts';
import { storeRoutes } from './store/storeRoutes.ts';
import { stateRoutes } from './threads/stateRoutes.ts';
import { threadRoutes } from './threads/threadRoutes.ts';

export interface ServerOptions {
  /** Apps of `durable()`, by the names that clients call assistants. */
  readonly apps: Readonly<Record<string, ServedApp>>;
  /** Returns the principal of a request, or `null` to reject it. */
  readonly identify: (request: Request) => Principal | null | Promise<Principal | null>;
  /** Decides about each action of a principal. Called for every request, and for every thread of a list. */
  readonly authorize: Authorize;
  /** `Host` values to accept, such as `api.example.org`. */
  readonly hosts: readonly string[];
  /** Origins of pages that may use the API from a browser, such as `https://chat.example.org`. @defaultValue pages of the server's own address */
  readonly origins?: readonly string[];
  /** Path of the API, without a slash at its end, such as `/api`. @defaultValue '' */
  readonly base?: string;
  /** Execute runs in this process. For apps of one state file. @defaultValue false */
  readonly work?: boolean;
  readonly limits?: ServerLimits;
}

export interface ServerLimits {
  /** Longest body, in bytes. @defaultValue 16 MiB */
  readonly bodyBytes?: number;
  /** Open streams. @defaultValue 2,000 */
  readonly streams?: number;
  /** Open streams of one principal. @defaultValue 500 */
  readonly streamsEach?: number;
}

/** Answers a request. It does not reject. */
export interface ServerHandler {
  (request: Request): Promise<Response>;
  /** Ends the streams and, with `work`, waits until the runs in hand have stopped at a safe point. Does not close the apps. */
  close(): Promise<void>;
}

/**
 * Creates the HTTP API of LangGraph's server over durable apps, as a handler for any server. LangGraph's own clients use it. A
 * message cannot answer a question: a decision is recorded with the person that `identify` returns.
 *
 * @throws TypeError for options that do not fit.
 *
 * @example
 * ```ts
 * const api = createServer({
 *   apps: { agent: durable(graph, { file: 'state.sqlite' }) },
 *   hosts: ['api.example.org'],
 *   identify: async (request) => personOf(await sessions.find(request)),
 *   authorize: ({ id }, _action, run) => run === null || run.owner.by === `human:${id}`,
 *   work: true,
 * });
 * serve({ fetch: api, port: 2024 }); // Hono's server for Node.js
 * ```
 */
export function createServer(options: ServerOptions): ServerHandler {
  const {
    apps,
    identify,
    authorize,
    hosts,
    origins = [],
    work = false,
    limits = {},
    base = '',
  } = checkedOptions(options);
  const reach: Reach = { hosts: new Set(hosts), origins: new Set(origins) };
  const { bodyBytes = 16 * 1024 * 1024, streams: all = 2_000, streamsEach: each = 500 } = limits;
  const streams = new OpenStreams({ all, each });
  const served = { assistants: new Assistants(apps), streams };
  const accessOf = async (request: Request): Promise<Access> => {
    const principal = await identify(request);
    if (principal === null)
      throw new ApiError(401, 'NOT_SIGNED_IN', 'The request names nobody who is known.');
    return new Access(principal, authorize);
  };
  const routes = routesOf(served, { base, accessOf, bodyBytes });
  const workers = work ? startWorkers(Object.values(apps)) : undefined;
  const answer = async (request: Request): Promise<Response> => {
    assertReach(request, reach);
    const response = request.method === 'OPTIONS' ? preflight(request) : await routes.fetch(request);
    return allowOrigin(request, response);
  };
  const handle = (request: Request): Promise<Response> => answer(request).catch(refusal);
  const close = async (): Promise<void> => {
    streams.closeAll();
    await workers?.stop();
  };
  return Object.assign(handle, { close });
}

interface Entrance {
  readonly base: string;
  readonly accessOf: (request: Request) => Promise<Access>;
  /** Longest body, in bytes. */
  readonly bodyBytes: number;
}

/** Every path there is. */
function routesOf(served: Served, { base, accessOf, bodyBytes }: Entrance): Hono<Env> {
  const app = new Hono<Env>().basePath(base);
  app.onError((error) => refusal(error));
  app.notFound(() => refusal(notFound('Path')));
  app.get('/ok', () => json({ ok: true }));
  app.use(async (c, next) => {
    c.set('access', await accessOf(c.req.raw));
    c.set('body', await readBody(c.req.raw, bodyBytes));
    await next();
  });
  const parts = [metaRoutes(), assistantRoutes(served), threadRoutes(served), stateRoutes(served)];
  for (const part of [
    ...parts,
    cronRoutes(served),
    runRoutes(served),
    protocolRoutes(served),
    storeRoutes(served),
    notOfferedRoutes(),
  ])
    app.route('/', part);
  return app;
}

function refusal(error: unknown): Response {
  const { status, body } = errorView(error);
  return json(body, { status });
}

const KNOWN: Readonly<Record<keyof ServerOptions, true>> = {
  ...{
    apps: true,
    identify: true,
    authorize: true,
    hosts: true,
    origins: true,
    base: true,
    work: true,
    limits: true,
  },
};

/** @throws TypeError */
function checkedOptions(options: ServerOptions): ServerOptions {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(KNOWN, name));
  if (unknown !== undefined) throw new TypeError(`createServer: unknown option "${unknown}".`);
  const { identify, authorize, hosts } = options;
  if (typeof identify !== 'function') throw new TypeError('createServer: `identify` must be a function.');
  if (typeof authorize !== 'function') throw new TypeError('createServer: `authorize` must be a function.');
  if (!Array.isArray(hosts) || hosts.length === 0)
    throw new TypeError('createServer: `hosts` must have the `Host` values to accept.');
  return options;
}
