import { Hono } from 'hono';
import { z } from 'zod';
import type { Assistants } from '../apps/Assistants.ts';
import type { Assistant } from '../apps/ServedApp.ts';
import { readQuery } from '../http/readBody.ts';
import { json } from '../http/serialize.ts';
import { type Asking, bodyOf, type Env, pathId, type Served } from '../Served.ts';

const searchBody = z.looseObject({
  graph_id: z.string().nullish(),
  name: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  limit: z.number().int().min(1).max(1000).nullish(),
  offset: z.number().int().min(0).nullish(),
});
const graphQuery = z.looseObject({ xray: z.string().optional() });

/** The registered apps, read only. */
export function assistantRoutes(served: Served): Hono<Env> {
  const { assistants } = served;
  const routes = new Hono<Env>();
  routes.post('/assistants/search', async (c) => {
    const body = bodyOf(c, searchBody);
    const found = await search(c, body, assistants);
    const from = body.offset ?? 0;
    const page = found.slice(from, from + (body.limit ?? 10));
    return json(
      page.map((assistant) => viewOf(assistant, assistants)),
      {
        headers: { 'x-pagination-total': String(found.length) },
      },
    );
  });
  routes.post('/assistants/count', async (c) =>
    json((await search(c, bodyOf(c, searchBody), assistants)).length),
  );
  routes.get('/assistants/:assistant_id', async (c) =>
    json(viewOf(await required(c, assistants), assistants)),
  );
  routes.get('/assistants/:assistant_id/graph', async (c) => {
    const { app } = await required(c, assistants);
    const { xray } = readQuery(c.req.raw, graphQuery);
    return json((await drawn(app.graph).getGraphAsync({ xray: xray === 'true' || xray === '1' })).toJSON());
  });
  routes.get('/assistants/:assistant_id/schemas', async (c) => {
    const { app, name } = await required(c, assistants);
    return json({
      graph_id: name,
      ...schemasOf(app.graph),
      config_schema: ANYTHING,
      context_schema: ANYTHING,
    });
  });
  routes.get('/assistants/:assistant_id/subgraphs/:namespace?', async (c) => {
    const { app } = await required(c, assistants);
    const found: [string, object][] = [];
    for await (const [name, graph] of drawn(app.graph).getSubgraphsAsync(c.req.param('namespace'), true))
      found.push([name, schemasOf(graph)]);
    return json(Object.fromEntries(found));
  });
  return routes;
}

async function required(c: Asking, assistants: Assistants): Promise<Assistant> {
  const assistant = assistants.named(pathId(c, 'assistant_id'));
  await c.var.access.demand('assistants:read', { assistant: assistant.name });
  return assistant;
}

async function search(
  c: Asking,
  { graph_id: graph, name, metadata }: z.infer<typeof searchBody>,
  { all }: Assistants,
): Promise<readonly Assistant[]> {
  await c.var.access.demand('assistants:search');
  // The only metadata of an assistant is its author.
  const asked = Object.entries(metadata ?? {}).every(
    ([key, value]) => key === 'created_by' && value === 'system',
  );
  const isFound = (own: string): boolean =>
    asked && (!graph || graph === own) && (!name || own.toLowerCase().includes(name.toLowerCase()));
  return all.filter((assistant) => isFound(assistant.name));
}

const viewOf = ({ name }: Assistant, { since }: Assistants): object => ({
  ...{ assistant_id: name, graph_id: name, name, config: {}, context: {}, version: 1 },
  ...{ metadata: { created_by: 'system' }, created_at: since, updated_at: since },
});

interface Drawn {
  getGraphAsync(options: { readonly xray: boolean }): Promise<{ toJSON(): unknown }>;
  getSubgraphsAsync(namespace?: string, recurse?: boolean): AsyncGenerator<[string, unknown]>;
}

/** A compiled graph of LangGraph, with the types of its author's state. */
const drawn = (graph: unknown): Drawn => graph as Drawn;

/** A graph knows the names of its channels; their types are TypeScript's. */
const ANYTHING = { type: 'object', properties: {}, additionalProperties: true } as const;

function schemasOf(
  graph: unknown,
): Readonly<Record<'input_schema' | 'output_schema' | 'state_schema', object>> {
  const { inputChannels, outputChannels, streamChannels } = graph as Readonly<Record<string, unknown>>;
  return {
    input_schema: schemaOf(inputChannels === '__start__' ? streamChannels : inputChannels),
    output_schema: schemaOf(outputChannels),
    state_schema: schemaOf(streamChannels),
  };
}

function schemaOf(channels: unknown): object {
  const names = (
    typeof channels === 'string' ? [channels] : Array.isArray(channels) ? channels : []
  ) as readonly string[];
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, propertyOf(name)])) };
}

/** Clients look for `messages` to know a chat. */
const propertyOf = (name: string): object =>
  name === 'messages' ? { title: 'Messages', type: 'array', items: { type: 'object' } } : { title: name };
