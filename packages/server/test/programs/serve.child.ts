// Serves runs over a state file, and drives them, until it is killed. Arguments: the file, the port (0: any), a file with
// a line per call outside, what it does as well: `walk MS` (how long a call takes), or `die` (in the call that publishes).
import { appendFileSync } from 'node:fs';
import { stdout } from 'node:process';
import { durable } from '@devs/core/langgraph';
import { serve } from '@hono/node-server';
import { createServer, type ServerHandler } from '../../src/createServer.ts';
import { postGraph, publishGraph, walkGraph } from './graphs.ts';

const [, , file = '', port = '0', world = '', mode = 'walk', ms = '0'] = process.argv;
const call = (what: string): void => appendFileSync(world, `${what}\n`);

const apps = {
  post: durable(postGraph(call), { file }),
  walk: durable(walkGraph(call, Number(ms)), { file }),
  publish: durable(
    publishGraph((key) => {
      call(`publish ${key}`);
      if (mode === 'die') process.kill(process.pid, 'SIGKILL');
      return Promise.resolve('https://posts.example/1');
    }),
    { file },
  ),
};
let handle: ServerHandler | undefined;
serve({ fetch: (request) => handle?.(request), port: Number(port), hostname: '127.0.0.1' }, (at) => {
  handle = createServer({
    apps,
    identify: () => ({ kind: 'human', id: 'ada' }),
    authorize: () => true,
    hosts: [`127.0.0.1:${at.port}`],
    work: true,
  });
  stdout.write(`${JSON.stringify({ port: at.port })}\n`);
});
