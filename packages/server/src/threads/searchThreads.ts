import type { RunInfo } from '@devs/core/langgraph';
import { z } from 'zod';
import type { Access, OwnerFields } from '../access/Access.ts';
import { type Assistants, isSamePlace, type Located } from '../apps/Assistants.ts';
import type { Assistant, ServedApp } from '../apps/ServedApp.ts';
import { type ThreadStatus, threadStatusOf } from '../runs/standing.ts';

const MOST = 1000;
/** More threads than these are neither sorted nor counted. */
const MOST_SORTED = 10_000;
const PAGE = 1000;

export const searchBody = z.looseObject({
  metadata: z.record(z.string(), z.unknown()).nullish(),
  ids: z.array(z.string()).max(MOST).nullish(),
  status: z.enum(['idle', 'busy', 'interrupted', 'error']).nullish(),
  values: z.record(z.string(), z.unknown()).nullish(),
  limit: z.number().int().min(1).max(MOST).nullish(),
  offset: z.number().int().min(0).nullish(),
  sort_by: z.enum(['thread_id', 'status', 'created_at', 'updated_at']).nullish(),
  sort_order: z.enum(['asc', 'desc']).nullish(),
  select: z.array(z.string()).max(20).nullish(),
});

export type SearchBody = z.infer<typeof searchBody>;

interface Search {
  readonly body: SearchBody;
  readonly access: Access;
  readonly assistants: Assistants;
}

/** A page of threads, and how many there are up to its end, with one more if others follow. */
export async function searchThreads(
  search: Search,
): Promise<{ readonly found: readonly Located[]; readonly total: number }> {
  const { limit, offset, sort_by: by, sort_order: order } = search.body;
  const from = offset ?? 0;
  const end = from + (limit ?? 10);
  const isAsListed = (by ?? 'created_at') === 'created_at' && order !== 'asc';
  const all = await findThreads(search, isAsListed ? end + 1 : MOST_SORTED);
  const sorted = isAsListed ? all : [...all].sort(byMember(by ?? 'created_at', order === 'asc' ? 1 : -1));
  return { found: sorted.slice(from, end), total: Math.min(sorted.length, end + 1) };
}

export async function countThreads(search: Search): Promise<number> {
  return (await findThreads(search, MOST_SORTED)).length;
}

/** The newest threads that match, of every app. One file has the runs of all its apps. */
async function findThreads({ body, access, assistants }: Search, most: number): Promise<readonly Located[]> {
  const owner = await access.demand('threads:search');
  const found: Located[] = [];
  for (const finder of assistants.finders) {
    const runs = body.ids ? byIds(finder, body.ids) : listed(finder, body, owner);
    let count = 0;
    for await (const run of runs) {
      const assistant = assistants.ownerOf(run, finder);
      if (!isSamePlace(assistant.app, finder)) continue; // its own app finds it
      if (!(await isFound(run, { body, access, owner, assistant }))) continue;
      found.push({ run, assistant });
      count += 1;
      if (count >= most) break;
    }
  }
  if (assistants.finders.length === 1 && !body.ids) return found;
  return found.sort((a, b) => (a.run.createdAt < b.run.createdAt ? 1 : -1)).slice(0, most);
}

async function* byIds(app: ServedApp, ids: readonly string[]): AsyncGenerator<RunInfo, void> {
  for (const id of ids) {
    const run = await app.get(id);
    if (run !== null) yield run;
  }
}

/** The runs in the engine's index, newest first. */
async function* listed(app: ServedApp, body: SearchBody, owner: OwnerFields): AsyncGenerator<RunInfo, void> {
  const status = body.status ? STATUSES[body.status] : undefined;
  const filter = { metadata: scalarsOf(body.metadata), owner, ...(status && { status }) };
  const limit = Math.min(PAGE, Math.max(50, (body.offset ?? 0) + (body.limit ?? 10) + 1));
  for (let after: string | undefined; ; ) {
    const { runs, next } = await app.list({ ...filter, limit, ...(after !== undefined && { after }) });
    yield* runs;
    if (next === null) return;
    after = next;
  }
}

/** The statuses of the engine that can be one of LangGraph's. */
const STATUSES: Readonly<Record<ThreadStatus, readonly RunInfo['status'][]>> = {
  idle: ['completed', 'cancelled', 'paused'],
  busy: ['created', 'running', 'waiting'],
  interrupted: ['waiting'],
  error: ['failed', 'dead_letter'],
};

type Scalar = string | number | boolean | null;
const isScalar = (value: unknown): value is Scalar =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

/** The engine finds scalars by an index; ten at most in one query. The assistant is compared afterwards. */
function scalarsOf(metadata: SearchBody['metadata']): Readonly<Record<string, Scalar>> {
  const scalars = Object.entries(metadata ?? {}).filter((pair): pair is [string, Scalar] =>
    isScalar(pair[1]),
  );
  return Object.fromEntries(scalars.filter(([name]) => !NAMES_ASSISTANT.has(name)).slice(0, 5));
}

/** A thread that a program started has an assistant, but not in its metadata. */
const NAMES_ASSISTANT: ReadonlySet<string> = new Set(['graph_id', 'assistant_id']);

async function isFound(
  run: RunInfo,
  {
    body,
    access,
    owner,
    assistant,
  }: Pick<Search, 'body' | 'access'> & {
    readonly owner: OwnerFields;
    readonly assistant: Assistant;
  },
): Promise<boolean> {
  const { name, app } = assistant;
  const metadata = { graph_id: name, assistant_id: name, ...run.metadata };
  if (!contains(metadata, body.metadata ?? {}) || !contains(run.owner ?? {}, owner)) return false;
  if (!(await access.may('threads:read', run))) return false;
  if (body.status === 'interrupted' || (body.status === 'busy' && run.status === 'waiting')) {
    const gates = await app.gates(run.id);
    return threadStatusOf({ status: run.status, gates }) === body.status;
  }
  return true;
}

/** As PostgreSQL's `@>` on JSON. */
function contains(value: unknown, part: unknown): boolean {
  if (Array.isArray(part))
    return Array.isArray(value) && part.every((each) => value.some((own) => contains(own, each)));
  if (typeof part !== 'object' || part === null) return value === part;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(part).every(
    ([name, own]) => Object.hasOwn(value, name) && contains((value as Record<string, unknown>)[name], own),
  );
}

type SortedBy = NonNullable<SearchBody['sort_by']>;

function byMember(by: SortedBy, sign: 1 | -1): (a: Located, b: Located) => number {
  const members: Readonly<Record<SortedBy, (run: RunInfo) => string>> = {
    thread_id: ({ id }) => id,
    status: ({ status }) => status,
    created_at: ({ createdAt }) => createdAt,
    updated_at: ({ updatedAt }) => updatedAt,
  };
  const value = members[by];
  return (a, b) => sign * (value(a.run) < value(b.run) ? -1 : Number(value(a.run) > value(b.run)));
}
