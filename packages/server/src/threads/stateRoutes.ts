import { Hono } from 'hono';
import { z } from 'zod';
import type { Access } from '../access/Access.ts';
import type { Located } from '../apps/Assistants.ts';
import { invalid, notOffered } from '../http/ApiError.ts';
import { readQuery } from '../http/readBody.ts';
import { json } from '../http/serialize.ts';
import { checkpointShape } from '../runs/RunBody.ts';
import { type Asking, bodyOf, type Env, locatedThread, pathId, type Served } from '../Served.ts';
import { refuseQuestions } from './refuseQuestions.ts';
import { checkpointView, latestCheckpointId, stateView } from './stateView.ts';

const MOST = 1000;
/** As many as LangGraph's server by default. */
const USUAL = 10;

const yes = z
  .union([z.boolean(), z.string()])
  .transform((value) => value === true || value === 'true' || value === '1' || value === 'yes');
const stateQuery = z.looseObject({ subgraphs: yes.optional() });
const checkpointBody = z.looseObject({ checkpoint: checkpointShape.nullish(), subgraphs: yes.nullish() });
const historyQuery = z.looseObject({
  limit: z.coerce.number().int().min(1).max(MOST).optional(),
  before: z.string().optional(),
});
const historyBody = z.looseObject({
  limit: z.number().int().min(1).max(MOST).nullish(),
  before: z.union([z.string(), checkpointShape, z.looseObject({ configurable: checkpointShape })]).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});
const updateBody = z.looseObject({
  values: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]).nullish(),
  as_node: z.string().nullish(),
  checkpoint: checkpointShape.nullish(),
  checkpoint_id: z.string().nullish(),
});

export function stateRoutes(served: Served): Hono<Env> {
  const routes = new Hono<Env>();
  routes.get('/threads/:thread_id/state', async (c) => {
    const located = await locatedThread(c, 'threads:read', served);
    return stateOf(located, undefined, readQuery(c.req.raw, stateQuery).subgraphs);
  });
  routes.post('/threads/:thread_id/state/checkpoint', async (c) => {
    const { checkpoint, subgraphs } = bodyOf(c, checkpointBody);
    const located = await locatedThread(c, 'threads:read', served);
    return stateOf(located, checkpoint?.checkpoint_id ?? undefined, subgraphs ?? false);
  });
  routes.get('/threads/:thread_id/state/:checkpoint_id', async (c) => {
    const located = await locatedThread(c, 'threads:read', served);
    return stateOf(located, pathId(c, 'checkpoint_id'), readQuery(c.req.raw, stateQuery).subgraphs);
  });
  routes.post('/threads/:thread_id/state', (c) => updateState(c, served));
  routes.get('/threads/:thread_id/history', async (c) => {
    const { limit, before } = readQuery(c.req.raw, historyQuery);
    return historyOf(await locatedThread(c, 'threads:read', served), { limit, before });
  });
  routes.post('/threads/:thread_id/history', async (c) => {
    const { limit, before, metadata } = bodyOf(c, historyBody);
    const located = await locatedThread(c, 'threads:read', served);
    return historyOf(located, { limit, before: checkpointIdOf(before), filter: metadata });
  });
  return routes;
}

async function stateOf(
  { assistant, run }: Located,
  checkpointId?: string,
  subgraphs = false,
): Promise<Response> {
  const { app } = assistant;
  const at = checkpointId === undefined ? {} : { checkpointId };
  const [state, gates] = [await app.getState(run.id, { ...at, subgraphs }), await app.gates(run.id)];
  return json(stateView(state, gates));
}

type Before = z.infer<typeof historyBody>['before'];

function checkpointIdOf(before: Before): string | undefined {
  if (before === null || before === undefined || typeof before === 'string') return before ?? undefined;
  const at = ('configurable' in before ? before.configurable : before) as z.infer<typeof checkpointShape>;
  return at.checkpoint_id ?? undefined;
}

interface HistoryRequest {
  readonly limit?: number | null | undefined;
  readonly before?: string | undefined;
  readonly filter?: Readonly<Record<string, unknown>> | null | undefined;
}

async function historyOf(
  { assistant, run }: Located,
  { limit, before, filter }: HistoryRequest,
): Promise<Response> {
  const { app } = assistant;
  const history = await app.getStateHistory(run.id, {
    limit: limit ?? USUAL,
    ...(before !== undefined && { before: { configurable: { thread_id: run.id, checkpoint_id: before } } }),
    ...(filter && { filter }),
  });
  const gates = await app.gates(run.id);
  const latest = await latestCheckpointId(app, run.id);
  // Questions are open at the latest checkpoint alone.
  const views = history.map((state) =>
    stateView(state, checkpointView(state.config)?.checkpoint_id === latest ? gates : []),
  );
  return json(views);
}

/** Where a stock inbox puts a thread that a person ignores. */
const END = '__end__';

async function updateState(c: Asking, served: Served): Promise<Response> {
  const { values, as_node: asNode, ...at } = bodyOf(c, updateBody);
  const { assistant, run } = await locatedThread(c, 'threads:update', served);
  const { app } = assistant;
  const { access } = c.var;
  const checkpointId = at.checkpoint?.checkpoint_id ?? at.checkpoint_id ?? undefined;
  if (checkpointId !== undefined && checkpointId !== (await latestCheckpointId(app, run.id)))
    throw notOffered(
      'A state is updated at its newest checkpoint. Fork the thread to continue from an earlier one.',
    );
  if (asNode === END) return endThread({ assistant, run }, access, values);
  if (Array.isArray(values)) throw invalid('values: expected an object.');
  const asked = await app.gates(run.id);
  const node = asNode ? { asNode: assertNotAsked(asNode, asked) } : {};
  const placed = await app.updateState(run.id, values ?? null, { by: access.principal, ...node });
  // Its questions were withdrawn. The run goes on, and asks anew.
  if (asked.length > 0) await app.start(run.id);
  return json({ checkpoint: { thread_id: run.id, checkpoint_ns: '', ...placed.configurable } });
}

/** Values in the name of a node would let the graph go on after a waiting question. @throws ApiError */
function assertNotAsked(asNode: string, asked: readonly unknown[]): string {
  if (asked.length === 0) return asNode;
  throw invalid('as_node: a question waits, and the graph would go on behind it. Send the values alone.');
}

/** The *ignore* of an inbox. */
async function endThread({ assistant, run }: Located, access: Access, values: unknown): Promise<Response> {
  if (values !== null && values !== undefined) throw invalid('A thread that ends takes no values.');
  await access.demandRun('threads:decide', run);
  await refuseQuestions(assistant.app, run.id, access.principal);
  return json({ checkpoint: checkpointView((await assistant.app.getState(run.id)).config) });
}
