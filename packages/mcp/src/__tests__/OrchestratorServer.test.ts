import { rmSync } from 'node:fs';
import path from 'node:path';
import { type Activity, Orchestrator } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../test/support/fixtures.ts';
import { OrchestratorServer, type OrchestratorServerOptions } from '../OrchestratorServer.ts';
import type { ToolErrorView } from '../renderToolError.ts';

/** No controls and no format characters: what the title below is made of. */
const SEEN = /^[^\p{Cc}\p{Cf}]+$/u;
const ada = { kind: 'human', id: 'ada' } as const;

async function connect(options: OrchestratorServerOptions) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await new OrchestratorServer(options).mcpServer().connect(theirs);
  const client = new Client({ name: 'test', version: '0' });
  await client.connect(ours);
  onTestFinished(() => client.close());
  return client;
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: args })).structuredContent as Record<string, unknown>;

async function read(client: Client, uri: string): Promise<unknown> {
  const [content] = (await client.readResource({ uri })).contents;
  return content !== undefined && 'text' in content ? JSON.parse(content.text) : null;
}

interface ARun {
  readonly id?: string;
  readonly gates?: number;
  readonly title?: string;
  /** While the design is written. */
  readonly tells?: (tell: (activity: Activity) => void) => Promise<void>;
}

/** A run in `dir` that has passed `gates` gates; nobody drives it. */
async function aRun(dir: string, { id = 'run-1', gates = 0, title = 'Do it', tells }: ARun = {}) {
  const agents = fakeAgents({ tasks: 1 });
  const devs = await Orchestrator.open({
    dir,
    agents: {
      ...agents,
      design: async (request, call) => {
        await tells?.((activity) => call.onActivity?.(activity));
        return agents.design(request, call);
      },
    },
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  const run = await devs.start({ id, brief: `# ${title}\n\nDo it.` });
  let now = await run.resume();
  for (let passed = 0; passed < gates; passed += 1) {
    for (const gate of now.gates) await run.decide(gate, { approved: true, by: ada });
    now = await run.resume();
  }
  const shown = await run.gates();
  devs.close();
  return shown;
}

describe('OrchestratorServer', () => {
  test('lists runs to a client that sends no arguments, and refuses a tool nobody listens for', async ({
    dir,
  }) => {
    await aRun(dir);
    const client = await connect({ dir });
    const { structuredContent } = await client.callTool({ name: 'list_runs' });
    expect(structuredContent).toEqual(await call(client, 'list_runs'));
    await expect(client.callTool({ name: 'decide' })).rejects.toThrow('decide');
  });

  test('lists runs page by page to a client that asks for a limit', async ({ dir }) => {
    const devs = await Orchestrator.open({ dir });
    for (const id of ['a', 'b', 'c']) await devs.start({ id, brief: '# B' });
    devs.close();
    const client = await connect({ dir });
    const { runs } = await call(client, 'list_runs');
    const first = await call(client, 'list_runs', { limit: 2 });
    const next = await call(client, 'list_runs', { after: first['nextAfter'] });
    expect(first['nextAfter']).toBe('b');
    expect(next['nextAfter']).toBeNull();
    expect([first['runs'], next['runs']].flat()).toEqual(runs);
    expect(await call(client, 'list_runs', { after: 'nobody' })).toMatchObject({ code: 'THREAD_NOT_FOUND' });
  });

  test('shows a gate with the hash a decision is bound to', async ({ dir }) => {
    const [gate] = await aRun(dir);
    const { gates } = await call(await connect({ dir }), 'get_gates', { threadId: 'run-1' });
    expect(gates).toMatchObject([{ sessionId: gate?.sessionId, artifactHash: gate?.artifactHash }]);
  });

  test('tells tools and resources the same', async ({ dir }) => {
    await aRun(dir, { gates: 2 });
    const client = await connect({ dir });
    expect(await read(client, 'devs://runs')).toEqual(await call(client, 'list_runs'));
    expect(await read(client, 'devs://runs/run-1')).toEqual(
      await call(client, 'get_run', { threadId: 'run-1' }),
    );
    expect(await read(client, 'devs://runs/run-1/recursion')).toEqual(
      await call(client, 'get_recursion_depth', { threadId: 'run-1' }),
    );
    const { resources } = await client.listResources();
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resources.map(({ uri }) => uri)).toEqual(['devs://runs']);
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'devs://runs/{id}',
      'devs://runs/{id}/recursion',
    ]);
  });

  test('reads the log page by page, without a gap or a repeat', async ({ dir }) => {
    await aRun(dir);
    const client = await connect({ dir });
    const { entries: whole, nextAfterSeq } = await call(client, 'get_log', { threadId: 'run-1', limit: 500 });
    expect(nextAfterSeq).toBeNull();
    const pages: unknown[] = [];
    for (let afterSeq: unknown = 0; afterSeq !== null; ) {
      const page = await call(client, 'get_log', { threadId: 'run-1', afterSeq, limit: 3 });
      pages.push(...(page['entries'] as unknown[]));
      afterSeq = page['nextAfterSeq'];
    }
    expect(pages).toEqual(whole);
  });

  test('reads what a stage told page by page, masked and bounded; an unknown one is answered with those there are', async ({
    dir,
  }) => {
    const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`;
    const said = Array.from({ length: 6 }, (_, n) => `${n} ${'word '.repeat(24_000)}\n`);
    await aRun(dir, {
      tells: async (tell) => {
        for (const text of said) tell({ kind: 'text', text });
        tell({
          kind: 'tool',
          id: '1',
          name: 'read_file',
          state: 'started',
          detail: `password=hunter2 ${token}`,
        });
      },
    });
    const client = await connect({ dir });
    const stage = { threadId: 'run-1', stage: 'design' };
    const pages: {
      readonly seq: number;
      readonly activity: { readonly kind: string; readonly text?: string };
    }[][] = [];
    for (let afterSeq: unknown = 0; afterSeq !== null; ) {
      const page = await call(client, 'get_transcript', { ...stage, attempt: 1, afterSeq, limit: 2 });
      pages.push(page['entries'] as (typeof pages)[number]);
      afterSeq = page['nextAfterSeq'];
    }
    expect(pages.length).toBeGreaterThan(1);
    const all = pages.flat();
    expect(new Set(pages.map((page) => page[0]?.seq)).size).toBe(pages.length);
    expect(all.map(({ activity }) => activity.text ?? '').join('')).toBe(said.join(''));
    expect(all.at(-1)).toMatchObject({
      stage: 'design',
      attempt: 1,
      activity: { kind: 'tool', name: 'read_file' },
    });
    expect(JSON.stringify(all)).not.toContain(token.slice(0, 12));
    expect(JSON.stringify(all)).not.toContain('hunter2');
    // However many entries are asked for, a page ends.
    const whole = await call(client, 'get_transcript', { ...stage, limit: 500 });
    expect(whole['nextAfterSeq']).not.toBeNull();

    expect(await call(client, 'get_transcript', { ...stage, stage: 'T9.implement' })).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: expect.stringContaining('available: design'),
      remedy: expect.stringMatching(/./),
    });
    expect(await call(client, 'get_transcript', { ...stage, attempt: 7 })).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: expect.stringContaining('from 1 to 1'),
    });
    for (const bad of [{ threadId: 'run-1' }, { ...stage, attempt: 0 }, { ...stage, limit: 501 }]) {
      expect(await call(client, 'get_transcript', bad)).toMatchObject({ code: 'INVALID_ARGUMENTS' });
    }
    expect(await call(client, 'get_transcript', { ...stage, threadId: 'nobody' })).toMatchObject({
      code: 'THREAD_NOT_FOUND',
    });
  });

  test('counts transitions against the configured limit, and anew after a decision', async ({ dir }) => {
    await aRun(dir);
    const client = await connect({ dir, env: { DEVS_MAX_RECURSION_DEPTH: '11' } });
    const threadId = 'run-1';
    expect(await call(client, 'get_recursion_depth', { threadId })).toEqual({
      ...{ threadId, runId: threadId },
      current: 3,
      limit: 11,
      warningAt: 9,
      MAX_RECURSION_DEPTH: 11,
    });
    await aRun(dir, { id: 'run-2', gates: 1 });
    expect(await call(client, 'get_recursion_depth', { threadId: 'run-2' })).toMatchObject({ current: 2 });
    // By the name that clients know from before.
    expect(await call(client, 'get_recursion_depth', { runId: 'run-2' })).toMatchObject({ current: 2 });
    const both = { runId: 'run-2', threadId: 'run-1' };
    expect(await call(client, 'get_recursion_depth', both)).toMatchObject({ code: 'INVALID_ARGUMENTS' });
  });

  test('a bad limit stops the start', ({ dir }) => {
    expect(() => new OrchestratorServer({ dir, env: { DEVS_MAX_RECURSION_DEPTH: '4' } })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    );
  });

  test('sees a state file that is created, replaced or gone while it serves', async ({ dir }) => {
    const folder = path.join(dir, 'later');
    const client = await connect({ dir: folder });
    expect(await call(client, 'list_runs')).toMatchObject({ code: 'STATE_IO' });
    await aRun(folder);
    expect(await call(client, 'list_runs')).toMatchObject({ runs: [{ id: 'run-1' }] });
    rmSync(folder, { recursive: true });
    expect(await call(client, 'list_runs')).toMatchObject({ code: 'STATE_IO' });
    await aRun(folder, { id: 'run-2' });
    expect(await call(client, 'list_runs')).toMatchObject({ runs: [{ id: 'run-2' }] });
  });

  test('an error carries a code and a remedy', async ({ dir }) => {
    await aRun(dir);
    const client = await connect({ dir });
    const remedy = expect.stringMatching(/./);
    expect(await call(client, 'get_run', { threadId: 'nobody' })).toMatchObject({
      code: 'THREAD_NOT_FOUND',
      remedy,
    });
    await expect(client.readResource({ uri: 'devs://runs/nobody' })).rejects.toMatchObject({
      data: { code: 'THREAD_NOT_FOUND', remedy },
    });
    const bad = [{}, { threadId: 7 }, { threadId: 'run-1', more: 1 }, { threadId: 'run-1', limit: 0 }];
    for (const args of bad) {
      expect(await call(client, 'get_log', args), JSON.stringify(args)).toMatchObject({
        code: 'INVALID_ARGUMENTS',
        remedy,
      });
    }
  });

  test('reports a refused call', async ({ dir }) => {
    const refusals: ToolErrorView[] = [];
    const client = await connect({ dir, onRefused: (refusal) => refusals.push(refusal) });
    await expect(client.callTool({ name: 'approve_gate' })).rejects.toThrow('read-only');
    await expect(client.callTool({ name: 'get_rnu' })).rejects.toThrow('no tool "get_rnu"');
    expect(refusals.map(({ code }) => code)).toEqual(['AGENT_MAY_NOT_DECIDE', 'UNKNOWN_TOOL']);
  });

  test('shows nothing that cannot be seen: escaped in JSON text, which means the same, and spelled out in errors', async ({
    dir,
  }) => {
    const refusals: ToolErrorView[] = [];
    const title = 'Pay\u200b \u202eeve\u{e0041} now\u0085';
    await aRun(dir, { title });
    const client = await connect({ dir, onRefused: (refusal) => refusals.push(refusal) });
    const calls = [
      ['list_runs', {}],
      ['get_run', { threadId: 'run-1' }],
      ['get_gates', { threadId: 'run-1' }],
      ['get_log', { threadId: 'run-1' }],
      ['get_run', { threadId: 'no\u200bbody' }],
      ['get_log', { threadId: 'run-1', 'mo\u200bre': 1 }],
    ] as const;
    for (const [name, args] of calls) {
      const { content, structuredContent } = await client.callTool({ name, arguments: args });
      const text = content[0]?.type === 'text' ? content[0].text : '';
      expect(text).toMatch(SEEN);
      expect(JSON.parse(text)).toEqual(structuredContent);
    }
    expect(await call(client, 'list_runs')).toMatchObject({ runs: [{ title }] });
    expect(await call(client, 'get_run', { threadId: 'no\u200bbody' })).toMatchObject({
      code: 'THREAD_NOT_FOUND',
      message: expect.stringContaining('no⟨U+200B⟩body'),
    });

    for (const uri of ['devs://runs', 'devs://runs/run-1']) {
      const [resource] = (await client.readResource({ uri })).contents;
      expect(resource !== undefined && 'text' in resource && resource.text).toMatch(SEEN);
    }
    await expect(client.readResource({ uri: 'devs://runs/no%E2%80%8Bbody' })).rejects.toThrow(
      'no%E2%80%8Bbody',
    );
    await expect(client.callTool({ name: 'get\u200b_run\n' })).rejects.toThrow('"get\\u200b_run\\n"');
    expect(refusals[0]?.message).toContain('"get\\u200b_run\\n"');
  });
});
