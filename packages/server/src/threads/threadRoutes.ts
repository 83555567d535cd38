import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { z } from 'zod';
import type { Access } from '../access/Access.ts';
import type { Located } from '../apps/Assistants.ts';
import type { ServedApp } from '../apps/ServedApp.ts';
import { ApiError, notOffered } from '../http/ApiError.ts';
import { json } from '../http/serialize.ts';
import { type Asking, bodyOf, type Env, locatedThread, type Served } from '../Served.ts';
import { countThreads, searchBody, searchThreads } from './searchThreads.ts';
import { assertId } from './threadId.ts';
import { threadView } from './threadView.ts';

/** A body is JSON. */
type Metadata = Parameters<ServedApp['updateMetadata']>[1];

const labels = z.record(z.string(), z.unknown());

const createBody = z.looseObject({
  thread_id: z.string().nullish(),
  metadata: labels.nullish(),
  if_exists: z.enum(['raise', 'do_nothing']).nullish(),
  supersteps: z.array(z.unknown()).nullish(),
});

const patchBody = z.looseObject({ metadata: labels.nullish() });

export function threadRoutes(served: Served): Hono<Env> {
  const routes = new Hono<Env>();
  routes.post('/threads', (c) => createThread(c, served));
  routes.post('/threads/search', async (c) => {
    const body = bodyOf(c, searchBody);
    if (body.values) throw notOffered('Threads are not found by their values. Use metadata.');
    const { found, total } = await searchThreads({
      body,
      access: c.var.access,
      assistants: served.assistants,
    });
    const views = found.map(({ assistant, run }) => threadView(assistant.app, run, body.select ?? undefined));
    const end = (body.offset ?? 0) + found.length;
    const headers = {
      'x-pagination-total': String(total),
      ...(total > end && { 'x-pagination-next': String(end) }),
    };
    return json(await Promise.all(views), { headers });
  });
  routes.post('/threads/count', async (c) => {
    const body = bodyOf(c, searchBody);
    return json(await countThreads({ body, access: c.var.access, assistants: served.assistants }));
  });
  routes.get('/threads/:thread_id', async (c) => {
    const { assistant, run } = await locatedThread(c, 'threads:read', served);
    return json(await threadView(assistant.app, run));
  });
  routes.patch('/threads/:thread_id', async (c) => {
    const body = bodyOf(c, patchBody);
    const { assistant, run } = await locatedThread(c, 'threads:update', served);
    const { graph_id: _graph, assistant_id: _assistant, ...patch } = body.metadata ?? {};
    return json(
      await threadView(assistant.app, await assistant.app.updateMetadata(run.id, patch as Metadata)),
    );
  });
  routes.delete('/threads/:thread_id', async (c) => {
    await deleteThread(c, await locatedThread(c, 'threads:delete', served));
    return new Response(null, { status: 204 });
  });
  return routes;
}

async function createThread(c: Asking, served: Served): Promise<Response> {
  const { thread_id, metadata: given, if_exists, supersteps } = bodyOf(c, createBody);
  if (supersteps?.length)
    throw notOffered('A thread is not created from super-steps. Import it with `importThread`.');
  const { access } = c.var;
  const { assistants } = served;
  const id = thread_id ?? randomUUID();
  assertId(id, 'thread_id');
  const known = thread_id ? await assistants.locate(id) : null;
  if (known !== null) {
    if (if_exists !== 'do_nothing') throw alreadyThere();
    return existing(access, known);
  }
  const owner = access.owning(await access.demand('threads:create'));
  const { app } = assistants.ofThread(given?.['graph_id'] ?? given?.['assistant_id']);
  const metadata = (given ?? {}) as Metadata;
  return existing(access, {
    assistant: { name: '', app },
    run: await app.create(id, { owner, metadata, ifExists: if_exists ?? 'raise' }),
  });
}

/** Somebody else may have it. */
async function existing(access: Access, { assistant, run }: Located): Promise<Response> {
  if (!(await access.may('threads:read', run))) throw alreadyThere();
  return json(await threadView(assistant.app, run));
}

const alreadyThere = (): ApiError => new ApiError(409, 'THREAD_EXISTS', 'The thread exists already.');

/** How long a run that is cancelled may take to end, ms. */
const MOST_ENDING_MS = 5_000;
const LOOK_EVERY_MS = 20;

/** Ends the run of a thread, then deletes the thread. */
async function deleteThread(c: Asking, { assistant, run }: Located): Promise<void> {
  const { app } = assistant;
  const by = c.var.access.principal;
  if (run.endedAt === null) await app.cancel(run.id, { by });
  const until = performance.now() + MOST_ENDING_MS;
  while ((await app.get(run.id))?.endedAt === null && performance.now() < until) await sleep(LOOK_EVERY_MS);
  await app.delete(run.id, { by, waitMs: 0 });
}
