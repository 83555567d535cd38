// start post-42 "green tea"   begins a post, or goes on with it; stops at the gate
// approve post-42             a human says yes
// Everything that reaches the outside world is a line in out/effects.log.
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { publishing } from './publishing.ts';

const out = process.env['OWN_GRAPH_OUT'] ?? fileURLToPath(new URL('out', import.meta.url));
const latencyMs = Number(process.env['OWN_GRAPH_LATENCY_MS'] ?? 200);
mkdirSync(out, { recursive: true });

async function effect<T>(name: string, key: string, result: T): Promise<T> {
  appendFileSync(join(out, 'effects.log'), `${name} ${key}\n`);
  await sleep(latencyMs);
  return result;
}

const app = publishing(join(out, 'posts.sqlite'), {
  model: (prompt, key) => effect('model', key, `${prompt}, in three lines`),
  publish: (post, key) =>
    effect('publish', key, `https://example.org/${encodeURIComponent(post.slice(0, 12))}`),
  announce: (_url, key) => effect('announce', key, undefined),
});

const [verb = 'start', id = 'post-42', topic] = process.argv.slice(2);
try {
  if (verb === 'approve') {
    for (const gate of await app.gates(id))
      await app.decide(gate, { approved: true, by: { kind: 'human', id: 'you' } });
    console.log('recorded');
  } else {
    const { status, gates, values } = await app.run(id, topic === undefined ? undefined : { topic });
    console.log(
      JSON.stringify({
        status,
        waitingFor: gates.map(({ message, artifact }) => ({ message, artifact })),
        url: values?.url,
      }),
    );
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  app.close();
}
