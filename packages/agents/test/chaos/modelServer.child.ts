// A model behind HTTP on loopback, in a process of its own: what it has logged was really asked, whatever happened to
// the asker. Every request is a line on disk before a byte of its answer is sent; the answer comes in slow chunks.
// POST /RUN/WHAT with an idempotency key. Messages: tells its port; answers "idle?" when nobody is connected.
import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentCall, StageAgents } from '@devs/core';
import { fakeAgents } from '@devs/core/testing';
import { KEY_HEADER, type LoggedCall, type ModelServerOptions } from './modelProtocol.ts';
import { TASKS } from './scenarios.ts';
import { seededRandom } from './seededRandom.ts';

const { logs, chunkMs, seed } = JSON.parse(process.argv[2] ?? '{}') as ModelServerOptions;
const random = seededRandom(seed);
const agents = fakeAgents({ tasks: TASKS });
const CHUNKS = 2;

const ownGraphAnswers: Readonly<Record<string, (text: string) => string>> = {
  model: (text) => `${text}, in three lines`,
  publish: (text) => `https://example.org/${encodeURIComponent(text.slice(0, 12))}`,
};

/** The stages the fake agents are asked for here. */
type AskedStage = Exclude<
  keyof StageAgents,
  'name' | 'provenance' | 'fingerprint' | 'reports' | 'pivot' | 'answer' | 'close'
>;

async function answerTo(what: string, body: never, idempotencyKey: string): Promise<unknown> {
  const own = ownGraphAnswers[what];
  if (own !== undefined) return own((body as { readonly text: string }).text);
  const call: AgentCall = { idempotencyKey, signal: new AbortController().signal, usage: () => {} };
  return agents[what as AskedStage](body, call);
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await textOf(request);
  const [, run = '', what = ''] = (request.url ?? '').split('/');
  const key = String(request.headers[KEY_HEADER]);
  const call: LoggedCall = { method: request.method ?? '', what, key, bytes: Buffer.byteLength(text) };
  appendFileSync(join(logs, `${run}.log`), `${JSON.stringify(call)}\n`);

  const answer = JSON.stringify(await answerTo(what, JSON.parse(text) as never, key));
  // Who plays on has no open connection between its calls, and is not waited for.
  response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
  const size = Math.ceil(answer.length / CHUNKS);
  for (let from = 0; from < answer.length && !response.destroyed; from += size) {
    await sleep(chunkMs.min + random() * (chunkMs.max - chunkMs.min));
    response.write(answer.slice(from, from + size));
  }
  response.end();
}

const connected = new Set<Socket>();
let idleIsAwaited = false;

function tellIfIdle(): void {
  if (!idleIsAwaited || connected.size > 0) return;
  idleIsAwaited = false;
  process.send?.('idle');
}

const server = createServer((request, response) => {
  serve(request, response).catch((error: unknown) => {
    if (!response.destroyed) response.destroy(error as Error);
  });
});
server.on('connection', (socket) => {
  connected.add(socket);
  const gone = (): void => {
    if (connected.delete(socket)) tellIfIdle();
  };
  socket.once('end', gone); // everything the peer has sent was read
  socket.once('close', gone);
});
process.on('message', () => {
  idleIsAwaited = true;
  setImmediate(tellIfIdle); // after what the kernel holds already was read
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
