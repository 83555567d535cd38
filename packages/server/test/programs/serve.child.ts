// Serves runs, drives them, or both, until it is killed. Arguments: a state file or the URL of a PostgreSQL; `both`, `server` or
// `worker`; the port (0: any); a file with a line per call outside; what it does as well: `walk MS` (how long a call takes), or
// `die` (in the call that publishes). Prints its port, which a worker has none of.
import { appendFileSync } from 'node:fs';
import { stdout } from 'node:process';
import { durable } from '@devs/core/langgraph';
import { postgres } from '@devs/postgres';
import { serve } from '@hono/node-server';
import { createServer, type ServerHandler } from '../../src/createServer.ts';
import { chatGraph, echoGraph, postGraph } from './graphs.ts';
import { publishGraph, walkGraph } from './steppedGraphs.ts';

const [, , state = '', role = 'both', port = '0', world = '', mode = 'walk', ms = '0'] = process.argv;
const call = (what: string): void => appendFileSync(world, `${what}\n`);
const runs = state.startsWith('postgres://') ? postgres({ url: state }) : null;
const place = runs === null ? { file: state } : { runs };

async function publish(key: string): Promise<string> {
  call(`publish ${key}`);
  if (mode === 'die') process.kill(process.pid, 'SIGKILL');
  return 'https://posts.example/1';
}

const apps = {
  echo: durable(echoGraph(call), { ...place, name: 'echo' }),
  chat: durable(chatGraph(call), { ...place, name: 'chat' }),
  post: durable(postGraph(call), { ...place, name: 'post' }),
  walk: durable(walkGraph(call, Number(ms)), { ...place, name: 'walk' }),
  publish: durable(publishGraph(publish), { ...place, name: 'publish' }),
};

function serveThem(): void {
  let handle: ServerHandler | undefined;
  const fetch = async (request: Request): Promise<Response> =>
    (await handle?.(request)) ?? new Response(null, { status: 503 });
  serve({ fetch, port: Number(port), hostname: '127.0.0.1' }, (at) => {
    handle = createServer({
      apps,
      identify: () => ({ kind: 'human', id: 'ada' }),
      authorize: () => true,
      hosts: [`127.0.0.1:${process.env['DEVS_TEST_HOST_PORT'] ?? at.port}`],
      work: role === 'both',
    });
    stdout.write(`${JSON.stringify({ port: at.port })}\n`);
  });
}

if (role === 'worker') {
  await runs?.work({ drivers: Object.values(apps), slots: 10 });
  stdout.write(`${JSON.stringify({ port: 0 })}\n`);
} else {
  serveThem();
}
