import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { z } from 'zod';
import type { Access } from '../access/Access.ts';
import type { Located } from '../apps/Assistants.ts';
import { notOffered } from '../http/ApiError.ts';
import { eventStream, type SentEvent } from '../http/eventStream.ts';
import { json } from '../http/serialize.ts';
import { type Asking, bodyOf, type Env, pathId, type Served } from '../Served.ts';
import { commandBody, runCommand } from './commands.ts';
import type { EventFilter } from './ProtocolEvent.ts';
import { readThread } from './readThread.ts';

const filterBody = z.looseObject({
  channels: z.array(z.string().max(200)).min(1).max(100),
  namespaces: z.array(z.array(z.string()).max(50)).max(100).nullish(),
  depth: z.number().int().min(0).nullish(),
  since: z.number().int().min(0).nullish(),
});

/** LangGraph's thread protocol, over HTTP and server-sent events. */
export function protocolRoutes(served: Served): Hono<Env> {
  const { assistants } = served;
  const routes = new Hono<Env>();
  routes.post('/threads/:thread_id/commands', async (c) => {
    const thread = pathId(c, 'thread_id');
    const command = bodyOf(c, commandBody);
    return json(await runCommand(command, { access: c.var.access, assistants, thread }));
  });
  routes.post('/threads/:thread_id/stream/events', (c) => streamEvents(c, served));
  return routes;
}

async function streamEvents(c: Asking, served: Served): Promise<Response> {
  const thread = pathId(c, 'thread_id');
  const { channels, namespaces, depth, since } = bodyOf(c, filterBody);
  if (channels.includes('tasks'))
    throw notOffered('The channel `tasks` is not offered: tasks are not recorded one by one. Use `updates`.');
  const filter: EventFilter = {
    channels: new Set(channels),
    namespaces: namespaces ?? undefined,
    depth: depth ?? undefined,
    since: since ?? undefined,
  };
  const { access } = c.var;
  const found = await served.assistants.locate(thread);
  if (found !== null) await access.demandRun('threads:read', found.run);
  async function* read(signal: AbortSignal): AsyncGenerator<readonly SentEvent[], void> {
    const located = found ?? (await appearing(thread, { access, served, signal }));
    if (located === null) return;
    const { name: graph, app } = located.assistant;
    for await (const group of readThread({ app, graph, thread }, filter, signal))
      yield group.map((data) => ({ id: data.event_id, event: data.method, data }));
  }
  return eventStream(read, { streams: served.streams, reader: access.name });
}

/** A stream may be open before the thread is: a page opens it, then starts the first run. */
const FIRST_LOOK_MS = 10;
/** It may be open for hours before that, ms. */
const LAST_LOOK_MS = 1_000;

interface Awaited {
  readonly access: Access;
  readonly served: Served;
  readonly signal: AbortSignal;
}

/** The thread once it is there; `null` for one of somebody else, and once `signal` is aborted. */
async function appearing(thread: string, { access, served, signal }: Awaited): Promise<Located | null> {
  for (let pauseMs = FIRST_LOOK_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 1.02, LAST_LOOK_MS)) {
    const located = await served.assistants.locate(thread);
    if (located !== null) return (await access.may('threads:read', located.run)) ? located : null;
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return null;
}
