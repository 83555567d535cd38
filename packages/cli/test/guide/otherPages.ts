// The programs of the pages of docs/guide that need more than @devs/core.
import { modelAgents } from '@devs/agents';
import type { Checks, StageAgents, Workspace } from '@devs/core';
import { Orchestrator, scrub } from '@devs/core';
import { durable } from '@devs/core/langgraph';
import { postgres } from '@devs/postgres';
import { createServer } from '@devs/server';
import { createUi } from '@devs/ui';
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const Post = Annotation.Root({ topic: Annotation<string>, to: Annotation<string> });
const builder = new StateGraph(Post).addNode('write', () => ({})).addEdge(START, 'write');

const graph = new StateGraph(Annotation.Root({ draft: Annotation<string> }))
  .addNode('deliver', () => ({}))
  .addEdge(START, 'deliver');

declare const answer: { readonly text: string };
declare const config: { readonly signingKey: string };
declare const encryptionKey: string;
declare const agents: StageAgents;
declare const workspace: Workspace;
declare const checks: Checks;
declare const brief: string;
declare const process: {
  readonly env: { readonly DEVS_DATABASE_URL?: string };
  once(signal: 'SIGTERM', act: () => void): void;
};
declare const server: {
  all(path: string, route: (c: { readonly req: { readonly raw: Request } }) => unknown): void;
};
declare const web: typeof server;
declare function sessionOf(request: Request): Promise<string>;
declare function personOf(session: string): { readonly kind: 'human'; readonly id: string } | null;

export async function deployment() {
  const app = durable(builder, { file: '/var/lib/posts/state.sqlite', name: 'posts' });
  const stopping = new AbortController();
  process.once('SIGTERM', () => stopping.abort()); // runs stop at their next safe point; another process resumes them
  await app.work({ concurrency: 20, signal: stopping.signal });
}

export const app = durable(builder, { runs: postgres(process.env.DEVS_DATABASE_URL ?? ''), graph: 'mail' });

export async function cluster() {
  await app.start('mail-7', { to: 'Ada' }, { tenant: 'acme', priority: 1 });
  const { status, values } = await app.result('mail-7', { wait: true });
  return { status, values };
}

export async function upgrades() {
  const app = durable(builder, { file: 'state.sqlite' });
  const { taken, refused } = await app.checkUpgrade();
  await app.acceptGraph('order-7', { by: { kind: 'human', id: 'ada' }, removed: { gates: ['legal'] } });
  return { taken, refused };
}

export function renamed() {
  const app = durable(graph, {
    file: 'state.sqlite',
    gates: { deliver: (state) => state.draft },
    graphChanges: {
      renamed: { nodes: { send: 'deliver' }, channels: { text: 'draft' } },
      removed: ['legal'], // nodes, channels and gates
    },
  });
  return app;
}

export function scrubbed() {
  return { answer: scrub(answer.text).value };
}

export function secrets() {
  const app = durable(builder, { file: 'state.sqlite', secrets: { values: [config.signingKey] } }); // at least 6 characters each
  return app;
}

export function encrypted() {
  const app = durable(builder, { file: 'state.sqlite', encryptionKey });
  return app;
}

export async function pipeline() {
  const devs = await Orchestrator.open({ dir: '.devs', agents, workspace, checks, budget: { usd: 5 } });
  const run = await devs.start({ id: 'csv-export', brief, review: 'task' });
  const { gates } = await run.resume();
  for (const gate of gates) await run.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
}

export async function again() {
  const app = durable(builder, { file: 'state.sqlite' });
  await app.run('order-7'); // the id alone; no input
}

export function page(app: typeof server) {
  const ui = createUi({
    dir: '/var/lib/posts',
    file: 'posts.sqlite',
    hosts: ['inbox.example.org'],
    base: '/inbox',
    identify: async (request) => personOf(await sessionOf(request)), // { kind: 'human', id } or null
  });
  app.all('/inbox/*', (c) => ui(c.req.raw)); // Hono; in Next.js: export const GET = ui, POST = ui
}

export async function models() {
  const agents = await modelAgents({
    model: 'openai:gpt-5',
    perStage: { document: 'ollama:qwen3' },
    settings: { temperature: 0 },
  });
  return agents;
}

export function agentServer() {
  const agent = durable(builder, { file: '/var/lib/agent/state.sqlite', name: 'agent', store: 'file' });
  const server = createServer({
    apps: { agent },
    hosts: ['api.example.org'],
    origins: ['https://chat.example.org'],
    identify: async (request) => personOf(await sessionOf(request)), // { kind: 'human', id } or null
    authorize: ({ id }) => ({ owner: { user: id } }),
    work: true,
  });
  web.all('*', (c) => server(c.req.raw)); // Hono; in Next.js: export const GET = server, POST = server
}

export function pooled() {
  const runs = postgres({
    url: 'postgres://devs@pooler:6432/devs',
    directUrl: 'postgres://devs@db:5432/devs',
  });
  return runs;
}
