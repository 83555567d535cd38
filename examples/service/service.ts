import { type ErrorCode, type GateAnswer, isDevsError } from '@devs/core';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { streamSSE } from 'hono/streaming';
import type { Posts } from './posts.ts';

/** The HTTP face of the runs of one app. Every process has the same one, and any of them may answer. */
export function service(app: Posts, leaving: AbortSignal): Hono {
  const http = new Hono();

  http.get('/runs', async (c) => c.json(await app.list(pageOf(c))));

  // The same id is the same run, so a client that got no answer asks again.
  http.post('/runs/:id', async (c) => {
    const id = c.req.param('id');
    const { topic } = await bodyOf(c);
    await app.start(id, { topic: String(topic) });
    return c.json({ id }, 202);
  });

  http.get('/runs/:id', async (c) => {
    const id = c.req.param('id');
    const { values, next } = await app.getState(id);
    return c.json({ values, next, gates: await app.gates(id) });
  });

  // The position in the run is the id of the event: a browser sends the last one it has when it connects again.
  http.get('/runs/:id/stream', async (c) => {
    const id = c.req.param('id');
    const after = Number(c.req.header('last-event-id') ?? 0);
    if (!Number.isSafeInteger(after) || after < 0) throw new HTTPException(400);
    await app.getState(id); // an unknown run is a 404, and not a stream that ends
    return streamSSE(c, async (sse) => {
      const reader = new AbortController();
      sse.onAbort(() => reader.abort());
      const signal = AbortSignal.any([reader.signal, leaving]);
      for await (const event of app.stream(id, null, { after, signal })) {
        await sse.writeSSE({ id: String(event.seq), event: event.mode, data: JSON.stringify(event) });
      }
    });
  });

  http.get('/inbox', async (c) => c.json(await app.openGates(pageOf(c))));

  // Whoever decides is who is signed in. An agent has no session here, and the body cannot make it one.
  http.post('/gates/:id', async (c) => {
    const by = { kind: 'human', id: userOf(c) } as const;
    const { hash, ...answer } = await bodyOf(c);
    const shown = { sessionId: c.req.param('id'), artifactHash: String(hash) };
    const { status } = await app.decide(shown, { ...answer, by } as GateAnswer); // checked: it comes from a browser
    return c.json({ status });
  });

  http.onError(answerError);
  return http;
}

/** Stands for your own authentication: a header that only the proxy in front may set. */
function userOf(c: Context): string {
  const user = c.req.header('x-user');
  if (user === undefined || user === '') throw new HTTPException(401);
  return user;
}

async function bodyOf(c: Context): Promise<Readonly<Record<string, unknown>>> {
  const body: unknown = await c.req.json().catch(() => null);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new HTTPException(400);
  return { ...body };
}

function pageOf(c: Context): { readonly after?: string; readonly limit?: number } {
  const { after, limit } = c.req.query();
  return { ...(after && { after }), ...(limit && { limit: Number(limit) }) };
}

const STATUS: { readonly [Code in ErrorCode]?: 400 | 404 | 409 } = {
  FEEDBACK_REQUIRED: 400,
  INVALID_ANSWER: 400,
  INVALID_INPUT: 400,
  GATE_NOT_FOUND: 404,
  THREAD_NOT_FOUND: 404,
  GATE_ALREADY_DECIDED: 409,
  GATE_NOT_READY: 409,
  GATE_STALE: 409,
  INPUT_NOT_TAKEN: 409,
};

/** What the caller can act on, in words; of all else, that it happened. */
function answerError(error: Error, c: Context): Response {
  if (error instanceof HTTPException) return error.getResponse();
  if (isDevsError(error)) {
    const { code, message, remedy } = error;
    return c.json({ error: { code, message, remedy } }, STATUS[code] ?? 500);
  }
  const isMistake = error instanceof TypeError || error instanceof RangeError;
  return isMistake
    ? c.json({ error: { message: error.message } }, 400)
    : c.json({ error: { message: 'internal error' } }, 500);
}
