// The programs of the pages of docs/guide that need more than @devs/core.
import { modelAgents } from '@devs/agents';
import type { Checks, StageAgents, Workspace } from '@devs/core';
import { Orchestrator, scrub } from '@devs/core';
import { durable } from '@devs/core/langgraph';
import { postgres } from '@devs/postgres';
import { createUi } from '@devs/ui';
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const Post = Annotation.Root({ topic: Annotation<string>, to: Annotation<string> });
const builder = new StateGraph(Post).addNode('write', () => ({})).addEdge(START, 'write');

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
declare function sessionOf(request: Request): Promise<string>;
declare function personOf(session: string): { readonly kind: 'human'; readonly id: string } | null;

export async function deployment() {
  const app = durable(builder, { file: '/var/lib/posts/state.sqlite' });
  const stopping = new AbortController();
  process.once('SIGTERM', () => stopping.abort()); // the run stops at its next safe point; another process resumes it
  await app.run('post-42', { topic: 'green tea' }, { drain: stopping.signal });
}

export const app = durable(builder, { runs: postgres(process.env.DEVS_DATABASE_URL ?? ''), graph: 'mail' });

export async function cluster() {
  await app.start('mail-7', { to: 'Ada' }, { tenant: 'acme', priority: 1 });
  const { status, values } = await app.result('mail-7', { wait: true });
  return { status, values };
}

export async function upgrades() {
  const app = durable(builder, { file: 'state.sqlite' });
  await app.acceptGraph('order-7', { by: { kind: 'human', id: 'ada' } }); // enough if you only added names
  await app.run('order-7');
}

export async function renamed() {
  const app = durable(builder, { file: 'state.sqlite' });
  await app.acceptGraph('order-7', {
    by: { kind: 'human', id: 'ada' },
    renamed: { nodes: { send: 'deliver' } },
    removed: { channels: ['draft'] },
  });
  await app.run('order-7');
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
