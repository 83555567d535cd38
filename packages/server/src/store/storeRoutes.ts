import { Hono } from 'hono';
import { z } from 'zod';
import type { Action } from '../access/Access.ts';
import type { ServedApp } from '../apps/ServedApp.ts';
import { ApiError, invalid } from '../http/ApiError.ts';
import { readQuery } from '../http/readBody.ts';
import { json } from '../http/serialize.ts';
import { type Asking, bodyOf, type Env, type Served } from '../Served.ts';

const namespace = z.array(z.string()).max(100);
const page = {
  limit: z.number().int().min(1).max(1000).nullish(),
  offset: z.number().int().min(0).nullish(),
};
const filter = z.record(z.string(), z.unknown()).nullish();

const putBody = z.looseObject({
  namespace,
  key: z.string().min(1),
  value: z.record(z.string(), z.unknown()),
});
const itemBody = z.looseObject({ namespace: namespace.nullish(), key: z.string().min(1) });
const itemQuery = z.looseObject({ namespace: z.string().optional(), key: z.string().min(1) });
const searchBody = z.looseObject({
  namespace_prefix: namespace,
  filter,
  query: z.string().nullish(),
  ...page,
});
const namespacesBody = z.looseObject({
  prefix: namespace.nullish(),
  suffix: namespace.nullish(),
  max_depth: z.number().int().min(1).nullish(),
  ...page,
});

/** The store of the registered apps, as nodes have it. */
export function storeRoutes(served: Served): Hono<Env> {
  const routes = new Hono<Env>();
  routes.put('/store/items', async (c) => {
    const { namespace: ns, key, value } = bodyOf(c, putBody);
    await (await storeFor(c, served, 'store:put', ns)).put(ns, key, value);
    return new Response(null, { status: 204 });
  });
  routes.delete('/store/items', async (c) => {
    const { namespace: ns, key } = bodyOf(c, itemBody);
    await (await storeFor(c, served, 'store:delete', ns ?? [])).delete(ns ? [...ns] : [], key);
    return new Response(null, { status: 204 });
  });
  routes.get('/store/items', async (c) => {
    const { namespace: text, key } = readQuery(c.req.raw, itemQuery);
    const ns = text?.split('.') ?? [];
    return json(itemView(await (await storeFor(c, served, 'store:get', ns)).get(ns, key)));
  });
  routes.post('/store/items/search', async (c) => {
    const body = bodyOf(c, searchBody);
    const ns = body.namespace_prefix;
    const memory = await storeFor(c, served, 'store:search', ns);
    const found = await memory.search(ns, {
      limit: body.limit ?? 10,
      offset: body.offset ?? 0,
      ...(body.filter && { filter: body.filter }),
      ...(body.query && { query: body.query }),
    });
    return json({ items: found.map(itemView) });
  });
  routes.post('/store/namespaces', async (c) => {
    const body = bodyOf(c, namespacesBody);
    const memory = await storeFor(c, served, 'store:list_namespaces', body.prefix ?? []);
    const namespaces = await memory.listNamespaces({
      limit: body.limit ?? 100,
      offset: body.offset ?? 0,
      ...(body.prefix && { prefix: body.prefix }),
      ...(body.suffix && { suffix: body.suffix }),
      ...(body.max_depth && { maxDepth: body.max_depth }),
    });
    return json({ namespaces });
  });
  return routes;
}

/** The first app's store: apps that share a file share it. @throws ApiError */
async function storeFor(
  c: Asking,
  { assistants }: Served,
  action: Action,
  ns: readonly string[],
): Promise<ServedApp['memory']> {
  if (ns.some((label) => label === '' || label.includes('.')))
    throw invalid('namespace: labels are neither empty nor have a dot.');
  if ((action === 'store:put' || action === 'store:get') && ns.length === 0)
    throw invalid('namespace is missing.');
  const fields = await c.var.access.demand(action, { namespace: ns });
  // An item has other fields: such a verdict cannot be met.
  if (Object.keys(fields).length > 0)
    throw new ApiError(403, 'NOT_ALLOWED', 'Items of a store have no owner fields.');
  return assistants.ofThread(undefined).app.memory;
}

type Item = NonNullable<Awaited<ReturnType<ServedApp['memory']['get']>>>;

function itemView(item: Item | null): object | null {
  if (item === null) return null;
  const { namespace: ns, key, value, createdAt, updatedAt } = item;
  const { score } = item as { readonly score?: number };
  return {
    namespace: ns,
    key,
    value,
    created_at: createdAt,
    updated_at: updatedAt,
    ...(score !== undefined && { score }),
  };
}
