import type { Context } from 'hono';
import type { z } from 'zod';
import type { Access, Action } from './access/Access.ts';
import type { Assistants, Located } from './apps/Assistants.ts';
import { notFound } from './http/ApiError.ts';
import type { OpenStreams } from './http/OpenStreams.ts';
import { parseShape } from './http/readBody.ts';
import { assertId } from './threads/threadId.ts';

/** The parts that every route works with. */
export interface Served {
  readonly assistants: Assistants;
  readonly streams: OpenStreams;
}

/** Known of a request before its route: the principal, and the body. */
export interface Env {
  readonly Variables: { readonly access: Access; readonly body: unknown };
}

export type Asking = Context<Env>;

/** The body of a request. @throws ApiError for another shape. */
export const bodyOf = <Shape extends z.ZodType>(c: Asking, shape: Shape): z.infer<Shape> =>
  parseShape(shape, c.var.body);

/** A member of the path. */
export function pathId(c: Asking, name: 'thread_id' | 'run_id' | 'assistant_id' | 'checkpoint_id'): string {
  const id = c.req.param(name) ?? '';
  assertId(id, name);
  return id;
}

/** The thread of the path, for a principal that may do this with it. @throws ApiError */
export async function locatedThread(c: Asking, action: Action, { assistants }: Served): Promise<Located> {
  const id = pathId(c, 'thread_id');
  const located = await assistants.locate(id);
  if (located === null) throw notFound(`Thread "${id}"`);
  await c.var.access.demandRun(action, located.run);
  return located;
}
