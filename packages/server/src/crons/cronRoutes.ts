import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import type { Access } from '../access/Access.ts';
import type { Assistants } from '../apps/Assistants.ts';
import type { Assistant } from '../apps/ServedApp.ts';
import { invalid, notFound, notOffered } from '../http/ApiError.ts';
import { json } from '../http/serialize.ts';
import { runBody } from '../runs/RunBody.ts';
import { assertOffered, assertWebhook, configurableOf } from '../runs/startRun.ts';
import { type Asking, bodyOf, type Env, locatedThread, type Served } from '../Served.ts';

const cronBody = runBody.extend({
  schedule: z.string().min(1).max(200),
  timezone: z.string().max(100).nullish(),
  end_time: z.iso.datetime({ offset: true }).nullish(),
  enabled: z.boolean().nullish(),
  on_run_completed: z.enum(['delete', 'keep']).nullish(),
});

const searchBody = z.looseObject({
  assistant_id: z.string().nullish(),
  thread_id: z.string().nullish(),
  limit: z.number().int().min(1).max(1000).nullish(),
  offset: z.number().int().min(0).nullish(),
});

type CronBody = z.infer<typeof cronBody>;
type Schedule = Awaited<ReturnType<Assistant['app']['schedules']>>[number];

interface Cron {
  readonly assistant: Assistant;
  readonly schedule: Schedule;
}

/** Schedules of the apps, as LangGraph's clients call them. */
export function cronRoutes(served: Served): Hono<Env> {
  const { assistants } = served;
  const routes = new Hono<Env>();
  routes.post('/runs/crons', async (c) => json(await createCron(c, served, null)));
  routes.post('/threads/:thread_id/runs/crons', async (c) => {
    const { run } = await locatedThread(c, 'threads:create_run', served);
    return json(await createCron(c, served, run.id));
  });
  routes.post('/runs/crons/search', async (c) => {
    const { limit, offset } = bodyOf(c, searchBody);
    const found = await cronsFor(c, assistants);
    const from = offset ?? 0;
    return json(found.slice(from, from + (limit ?? 10)).map(cronView), {
      headers: { 'x-pagination-total': String(found.length) },
    });
  });
  routes.post('/runs/crons/count', async (c) => json((await cronsFor(c, assistants)).length));
  routes.delete('/runs/crons/:cron_id', async (c) => {
    const id = c.req.param('cron_id');
    const { assistant } = await requireCron(id, c.var.access, assistants);
    await assistant.app.unschedule(id);
    return json({});
  });
  return routes;
}

async function createCron(c: Asking, { assistants }: Served, thread: string | null): Promise<object> {
  const body = bodyOf(c, cronBody);
  assertCron(body);
  const assistant = assistants.named(body.assistant_id);
  assertWebhook(body, assistant);
  const { access } = c.var;
  const fields = await access.demand('threads:create', { assistant: assistant.name });
  const { name, app } = assistant;
  const id = randomUUID();
  const options = {
    cron: body.schedule,
    ...(body.timezone && { timeZone: body.timezone }),
    ...(body.end_time && { until: new Date(body.end_time) }),
    ...(thread !== null && { thread }),
    by: access.principal,
    owner: access.owning(fields),
    metadata: { ...body.metadata, graph_id: name, assistant_id: name },
    ...(body.context !== undefined && body.context !== null && { context: body.context as object }),
    ...configurableOf(body.config),
    ...(body.config?.tags && { tags: body.config.tags }),
    ...(body.webhook && { webhook: body.webhook }),
  };
  return cronView({ assistant, schedule: await app.schedule(id, options, body.input) });
}

/** @throws ApiError for an option that is not offered, before anything is recorded. */
function assertCron(body: CronBody): void {
  assertOffered(body);
  if (body.enabled === false) throw notOffered('A cron is enabled. Create it when it is to start.');
  if (body.on_run_completed === 'delete')
    throw notOffered('Threads of a cron are kept. Delete them with `app.deleteOlderThan`.');
  if (body.command !== undefined && body.command !== null)
    throw invalid('A cron has an input, and no command: an answer belongs to a question that is open.');
  if (body.multitask_strategy && body.multitask_strategy !== 'enqueue')
    throw notOffered('A turn of a cron begins when the turn before it has ended: "enqueue".');
}

/** Those that a principal may read, and that match the body. */
async function cronsFor(c: Asking, { all }: Assistants): Promise<readonly Cron[]> {
  const { assistant_id: asked, thread_id: thread } = bodyOf(c, searchBody);
  const apps = asked ? all.filter(({ name }) => name === asked) : all;
  const lists = await Promise.all(
    apps.map(async (assistant) =>
      (await assistant.app.schedules()).map((schedule): Cron => ({ assistant, schedule })),
    ),
  );
  const found = lists.flat().filter(({ schedule }) => !thread || schedule.times.thread === thread);
  const allowed = await Promise.all(found.map((cron) => mayRead(cron, c.var.access)));
  return found.filter((_, at) => allowed[at]);
}

/** A principal that may read or delete a run of a cron may do so with the cron. */
const mayRead = (cron: Cron, access: Access): Promise<boolean> => access.may('threads:read', runOf(cron));

async function requireCron(id: string, access: Access, { all }: Assistants): Promise<Cron> {
  for (const assistant of all) {
    const schedule = (await assistant.app.schedules()).find((each) => each.id === id);
    if (schedule === undefined) continue;
    const cron = { assistant, schedule };
    if ((await mayRead(cron, access)) && (await access.may('threads:delete', runOf(cron)))) return cron;
  }
  throw notFound(`Cron "${id.slice(0, 80)}"`);
}

/** Rights are about runs: a cron counts as one that it has not started yet. */
function runOf({ assistant, schedule }: Cron): Parameters<Access['may']>[1] {
  const { owner = {}, metadata = {}, tags = [] } = schedule.options;
  const at = schedule.createdAt.toISOString();
  return {
    ...{ id: schedule.id, status: 'created', reason: null, graph: assistant.app.fingerprint },
    ...{ isDriven: false, isDue: false, createdAt: at, updatedAt: at, endedAt: null },
    ...{ owner, tags, metadata: metadata as Parameters<Access['may']>[1]['metadata'] },
  };
}

const cronView = ({ assistant, schedule }: Cron): object => {
  const { id, times, input, options, createdAt, nextAt } = schedule;
  const { metadata = {}, context, configurable, tags, webhook, owner } = options;
  const at = createdAt.toISOString();
  return {
    ...{ cron_id: id, assistant_id: assistant.name, thread_id: times.thread ?? null },
    ...{ schedule: times.cron ?? `every ${times.every} ms`, timezone: times.timeZone ?? null },
    ...{ created_at: at, updated_at: at, end_time: times.until?.toISOString() ?? null },
    ...{ next_run_date: nextAt?.toISOString() ?? null, user_id: owner?.['by'] ?? null },
    ...{ on_run_completed: 'keep', enabled: nextAt !== null, metadata },
    payload: { assistant_id: assistant.name, input, context, config: { configurable, tags }, webhook },
  };
};
