import { Hono } from 'hono';
import { z } from 'zod';
import type { Located } from '../apps/Assistants.ts';
import { invalid, notFound, notOffered } from '../http/ApiError.ts';
import { parseShape, readQuery } from '../http/readBody.ts';
import { json } from '../http/serialize.ts';
import { slowJson } from '../http/slowJson.ts';
import { runOf } from '../protocol/ThreadEvents.ts';
import { type Asking, bodyOf, type Env, locatedThread, pathId, type Served } from '../Served.ts';
import { modesOf, type RunBody, runBody, type SentMode } from './RunBody.ts';
import { type RunView, runView } from './runView.ts';
import { requireTurn, runStatusOf } from './standing.ts';
import { type StartedRun, startRun } from './startRun.ts';
import { cancelQuietly, streamRun } from './streamRun.ts';
import { deleteStateless, outputAfter, waitForRun } from './waitForRun.ts';

const yes = z
  .string()
  .transform((text) => text === '1' || text.toLowerCase() === 'true' || text.toLowerCase() === 'yes');

const listQuery = z.looseObject({
  limit: z.coerce.number().int().min(1).max(1000).default(10),
  offset: z.coerce.number().int().min(0).default(0),
  status: z.string().optional(),
});
const joinQuery = z.looseObject({ cancel_on_disconnect: yes.optional() });
const cancelQuery = z.looseObject({
  wait: yes.optional(),
  action: z.enum(['interrupt', 'rollback']).default('interrupt'),
});

export function runRoutes(served: Served): Hono<Env> {
  const routes = new Hono<Env>();
  for (const path of ['/runs', '/threads/:thread_id/runs'] as const) {
    routes.post(path, async (c) => {
      const { run } = await start(c, served);
      return json(await viewOf(run), { headers: { 'content-location': locationOf(run) } });
    });
    routes.post(`${path}/wait`, (c) => waitRun(c, served));
    routes.post(`${path}/stream`, (c) => startStream(c, served));
    routes.get(`${path}/:run_id/stream`, (c) => joinStream(c, served));
  }
  routes.get('/threads/:thread_id/runs', (c) => listRuns(c, served));
  routes.get('/threads/:thread_id/runs/:run_id', async (c) =>
    json(await viewOf(await locatedRun(c, served))),
  );
  routes.get('/threads/:thread_id/runs/:run_id/join', async (c) => {
    const run = await locatedRun(c, served);
    return slowJson((signal) => outputAfter(run, signal), {
      streams: served.streams,
      reader: c.var.access.name,
    });
  });
  routes.post('/threads/:thread_id/runs/:run_id/cancel', (c) => cancelRun(c, served));
  return routes;
}

async function start(
  c: Asking,
  served: Served,
): Promise<{ readonly body: RunBody; readonly run: StartedRun }> {
  const body = bodyOf(c, runBody);
  const thread = c.req.param('thread_id') === undefined ? null : pathId(c, 'thread_id');
  const key = c.req.header('idempotency-key');
  const run = await startRun(body, { access: c.var.access, assistants: served.assistants, thread, key });
  return { body, run };
}

/** A run of the path, for a principal that may read its thread. */
async function locatedRun(c: Asking, served: Served): Promise<StartedRun> {
  const run = runOf(pathId(c, 'run_id'));
  const isStateless = c.req.param('thread_id') === undefined;
  const located = isStateless
    ? await locatedStateless(c, run, served)
    : await locatedThread(c, 'threads:read', served);
  const { assistant } = located;
  await requireTurn(assistant.app, located.run.id, run);
  return { assistant, thread: located.run.id, run, isStateless };
}

/** The thread of a run without a thread is called like the run. */
async function locatedStateless(c: Asking, run: string, { assistants }: Served): Promise<Located> {
  const located = await assistants.locate(run);
  if (located === null) throw notFound(`Run "${run}"`);
  await c.var.access.demandRun('threads:read', located.run);
  return located;
}

/** A client joins again under this path, and reads the ids of thread and run from it. */
const locationOf = ({ thread, run, isStateless }: StartedRun): string =>
  isStateless
    ? `/runs/${encodeURIComponent(run)}`
    : `/threads/${encodeURIComponent(thread)}/runs/${encodeURIComponent(run)}`;

async function viewOf({ assistant: { app, name }, thread, run }: StartedRun): Promise<RunView> {
  const [turn, gates] = [await requireTurn(app, thread, run), await app.gates(thread)];
  const updatedAt = (await app.get(thread))?.updatedAt ?? turn.createdAt;
  return runView(turn, { thread, assistant: name, asks: gates.length > 0, updatedAt });
}

async function startStream(c: Asking, served: Served): Promise<Response> {
  const { body, run } = await start(c, served);
  const path = locationOf(run);
  const asked = { modes: modesOf(body), subgraphs: body.stream_subgraphs ?? false };
  const query = new URLSearchParams([...asked.modes].map((mode): [string, string] => ['stream_mode', mode]));
  if (asked.subgraphs) query.set('stream_subgraphs', 'true');
  return streamRun(run, asked, {
    ...{ streams: served.streams, access: c.var.access, isFresh: true },
    headers: { 'content-location': path, location: `${path}/stream?${query}` },
    cancelsOnLeave: body.on_disconnect === 'cancel',
    deletes: run.isStateless && body.on_completion !== 'keep',
  });
}

/** The modes of a run are not recorded with it: a client that joins sends them, or gets all. */
const USUAL_MODES: ReadonlySet<SentMode> = new Set(['values', 'updates', 'custom', 'messages-tuple']);

async function joinStream(c: Asking, served: Served): Promise<Response> {
  const run = await locatedRun(c, served);
  const { searchParams } = new URL(c.req.url);
  const modes = searchParams.getAll('stream_mode').flatMap((text) => text.split(','));
  const asked = {
    modes:
      modes.length === 0
        ? USUAL_MODES
        : modesOf(parseShape(runBody.pick({ stream_mode: true }), { stream_mode: modes })),
    subgraphs: searchParams.get('stream_subgraphs') === 'true',
  };
  const after = positionOf(c.req.header('last-event-id'));
  const { cancel_on_disconnect: cancelsOnLeave = false } = readQuery(c.req.raw, joinQuery);
  return streamRun(after === undefined ? run : { ...run, after }, asked, {
    ...{ streams: served.streams, access: c.var.access, isFresh: after === undefined },
    headers: { 'content-location': locationOf(run) },
    ...{ cancelsOnLeave, deletes: false },
  });
}

/** `-1` is the beginning, as in LangGraph. @throws ApiError */
function positionOf(id: string | undefined): number | undefined {
  if (id === undefined || id === '' || id === '-1') return undefined;
  const seq = Number(id);
  if (Number.isSafeInteger(seq) && seq >= 0) return seq;
  throw invalid('Last-Event-ID: expected the id of an event.');
}

async function waitRun(c: Asking, served: Served): Promise<Response> {
  const { body, run } = await start(c, served);
  const { access } = c.var;
  const deletes = run.isStateless && body.on_completion !== 'keep';
  const wait = async (signal: AbortSignal): Promise<unknown> => {
    const output = await outputAfter(run, signal);
    if (deletes) await deleteStateless(run, access.principal);
    return output;
  };
  return slowJson(wait, {
    ...{ streams: served.streams, reader: access.name, headers: { 'content-location': locationOf(run) } },
    ...(body.on_disconnect === 'cancel' && { onLeft: () => cancelQuietly(run, access.principal) }),
  });
}

async function listRuns(c: Asking, served: Served): Promise<Response> {
  const { limit, offset, status } = readQuery(c.req.raw, listQuery);
  const { assistant, run } = await locatedThread(c, 'threads:read', served);
  const { app, name } = assistant;
  const asks = (await app.gates(run.id)).length > 0;
  const turns = (await app.turns(run.id)).toReversed();
  const found = turns.filter((turn) => status === undefined || runStatusOf(turn, asks) === status);
  const views = found
    .slice(offset, offset + limit)
    .map((turn) => runView(turn, { thread: run.id, assistant: name, asks, updatedAt: run.updatedAt }));
  return json(views);
}

async function cancelRun(c: Asking, served: Served): Promise<Response> {
  const { wait, action } = readQuery(c.req.raw, cancelQuery);
  if (action === 'rollback') throw notOffered('A rollback would undo recorded work. Use action=interrupt.');
  const { assistant, run } = await locatedThread(c, 'threads:update', served);
  const found = await locatedRun(c, served);
  const turn = await requireTurn(assistant.app, run.id, found.run);
  const by = c.var.access.principal;
  await assistant.app.cancel(run.id, { by, ...(turn.turn !== null && { turn: turn.turn }) });
  if (wait === true) await waitForRun(found, c.req.raw.signal);
  return new Response(null, { status: wait === true ? 204 : 202 });
}
