import { type Context, Hono } from 'hono';
import { notOffered } from '../http/ApiError.ts';
import { json } from '../http/serialize.ts';
import type { Env } from '../Served.ts';
import { DIFFERENCES } from './differences.ts';

/** The version of LangGraph's API that clients find here. */
const API_VERSION = '1.5.1';

export function metaRoutes(): Hono<Env> {
  const routes = new Hono<Env>();
  routes.get('/info', () =>
    json({ version: API_VERSION, context: 'js', flags: FLAGS, differences: DIFFERENCES }),
  );
  return routes;
}

const FLAGS = {
  assistants: true,
  crons: true,
  langsmith: false,
  langsmith_tracing_replicas: false,
  durable: true,
};

/** Requests that LangGraph's server answers and this one does not. */
const NOT_OFFERED: readonly (readonly [method: string, path: string, why: string])[] = [
  ['GET', '/threads/:id/stream/events', 'WebSocket is not offered. Use POST, which streams events.'],
  ['POST', '/runs/batch', 'Batches are not offered. Send each run by itself.'],
  ['POST', '/runs/cancel', 'Cancel each run by itself.'],
  ['DELETE', '/threads/:id/runs/:run', 'A run is part of its thread. Delete the thread.'],
  ['POST', '/assistants', 'The assistants are the registered apps. Register another app with the server.'],
  ['PATCH', '/assistants/:id', 'The assistants are the registered apps. Change the program.'],
  ['DELETE', '/assistants/:id', 'The assistants are the registered apps. Change the program.'],
  ['POST', '/assistants/:id/versions', 'An assistant has one version: that of its program.'],
  ['POST', '/assistants/:id/latest', 'An assistant has one version: that of its program.'],
  ['POST', '/threads/prune', 'Threads are not pruned over HTTP. Use `app.prune` and `app.deleteOlderThan`.'],
  ['POST', '/threads/:id/copy', 'Threads are not copied. Fork one from a checkpoint.'],
  ['PATCH', '/runs/crons/:id', 'A cron is not changed. Delete it, and create another one.'],
];

export function notOfferedRoutes(): Hono<Env> {
  const routes = new Hono<Env>();
  for (const [method, path, why] of NOT_OFFERED)
    routes.on(method, path, (_c: Context): never => {
      throw notOffered(why);
    });
  return routes;
}
