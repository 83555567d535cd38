import { readdirSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished } from 'vitest';
import { tried } from '../../core/test/support/tried.ts';
import { test } from './support/fixtures.ts';
import { argvOf, Program } from './support/program.ts';

const server = new URL('../src/bin.ts', import.meta.url);
const driver = new URL('driveRun.child.ts', import.meta.url);

const CANARY = 'Tr0ub4dor-and-3-canaries';
const BRIEF = `# CSV export\n\nExport the table as CSV. The old one used password=${CANARY}\n`;
const threadId = 'csv-export';

async function connect(dir: string, options: ConstructorParameters<typeof Client>[1] = {}) {
  const client = new Client({ name: 'test', version: '0' }, options);
  const args = argvOf(server, '--dir', dir);
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
  onTestFinished(() => client.close());
  return client;
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { structuredContent, isError, content } = await client.callTool({ name, arguments: args });
  expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
  // A gate shows what is approved: what only a name makes a secret is hidden everywhere else.
  expect(JSON.stringify(structuredContent).includes(CANARY)).toBe(name === 'get_gates');
  expect(isError ?? false).toBe(false);
  return structuredContent as Record<string, unknown>;
}

async function readJson(client: Client, uri: string): Promise<unknown> {
  const { contents } = await client.readResource({ uri });
  const [content] = contents;
  return content !== undefined && 'text' in content ? JSON.parse(content.text) : null;
}

function startDriver(dir: string): Program {
  const program = new Program(driver, dir, BRIEF);
  onTestFinished(() => void program.process.kill('SIGKILL'));
  return program;
}

describe('OrchestratorServer over stdio', () => {
  test('reads runs, gates, log and depth while another process drives the run', async ({ dir }) => {
    const run = startDriver(dir);
    expect(await run.read()).toBe('at a gate');
    const client = await connect(dir);

    expect(await call(client, 'list_runs')).toMatchObject({
      runs: [{ id: threadId, status: 'waiting', openGates: 1 }],
    });
    expect(await call(client, 'get_gates', { threadId })).toMatchObject({
      gates: [
        {
          kind: 'design_approval',
          artifactHash: expect.stringMatching(/^[0-9a-f]{64}$/),
          artifact: { documents: expect.arrayContaining([expect.objectContaining({ content: 'Design 1' })]) },
        },
      ],
    });
    expect(await call(client, 'get_recursion_depth', { threadId })).toEqual({
      ...{ threadId, runId: threadId },
      current: 3,
      limit: 25,
      warningAt: 20,
      MAX_RECURSION_DEPTH: 25,
    });

    run.send('approve the design');
    expect(await run.read()).toBe('at a gate');
    run.send('approve the tasks');
    expect(await run.read()).toBe('in a task');
    expect(await call(client, 'get_run', { threadId })).toMatchObject({
      status: 'running',
      driver: expect.stringContaining(`${run.process.pid}:`),
      tasks: [{ label: 'T1' }, { label: 'T2' }],
      gates: [],
      agents: { provenance: 'scripted' },
    });
    expect(await readJson(client, `devs://runs/${threadId}/recursion`)).toMatchObject({
      current: 1,
      limit: 25,
    });

    run.send('go on');
    expect(await run.read()).toBe('in a task');
    run.send('go on');
    expect(await run.read()).toBe('completed');
    expect(await readJson(client, 'devs://runs')).toMatchObject({
      runs: [{ id: threadId, status: 'completed', tasks: { total: 2, completed: 2 } }],
    });
    const { entries } = await call(client, 'get_log', { threadId, limit: 500 });
    const names = (entries as { name: string }[]).map(({ name }) => name);
    expect(names.filter((name) => name === 'HITL_SESSION_DECIDED')).toHaveLength(2);
    const { entries: told } = await call(client, 'get_transcript', { threadId, stage: 'T2.implement' });
    expect(told).toMatchObject([
      {
        stage: 'T2.implement',
        attempt: 1,
        node: 'implement',
        activity: { kind: 'text', text: 'At work on T2' },
      },
    ]);
  });

  test('lists only what reads, and refuses to decide by any name', async ({ dir }) => {
    const run = startDriver(dir);
    await run.read();
    const client = await connect(dir, { versionNegotiation: { mode: 'auto' } });
    const before = await call(client, 'get_gates', { threadId });

    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'list_runs',
      'get_run',
      'get_gates',
      'get_log',
      'get_transcript',
      'get_recursion_depth',
    ]);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    for (const name of ['approve', 'decide_gate', 'resume', 'drive_run', 'set_policy', 'rewind']) {
      const refused = client.callTool({ name, arguments: { threadId, approved: true } });
      await expect(refused, name).rejects.toMatchObject({
        code: -32602,
        data: { code: 'AGENT_MAY_NOT_DECIDE', remedy: expect.any(String) },
      });
    }
    expect(await call(client, 'get_gates', { threadId })).toEqual(before);
  });

  test('survives 200 malformed messages and answers the next good one', async ({ dir, task }) => {
    const program = new Program(server, '--dir', dir);
    onTestFinished(() => void program.process.kill('SIGKILL'));
    const malformed = [
      '{"jsonrpc":"2.0"',
      'null',
      '[]',
      '""',
      '{"jsonrpc":"1.0","id":1,"method":"ping"}',
      '{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":7}}',
      '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"__proto__"}}',
      `{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"devs://x?password=${CANARY}"}}`,
      '\u0000\ufffd garbage',
    ];
    const hello = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 't', version: '0' },
    };
    program.send(JSON.stringify({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params: hello }));
    for (let i = 0; i < 200; i += 1) {
      program.send(malformed[i % malformed.length] ?? '');
      tried(task, { ways: i + 1 });
    }
    program.send('{"jsonrpc":"2.0","id":"last","method":"tools/list"}');

    const isLast = (line: unknown): line is { result: { tools: unknown[] } } =>
      (line as { id?: unknown }).id === 'last';
    expect((await program.readUntil(isLast)).result.tools).toHaveLength(6);
    await program.end();
    expect(program.process.exitCode).toBe(0);
    expect(program.stdout + program.stderr).not.toMatch(/\n\s+at |\\n\s+at /);
    expect(program.stdout + program.stderr).not.toContain(CANARY);
  });

  test('a folder without a state file stays empty, and the error says what to do', async ({ dir }) => {
    const client = await connect(dir);
    const { isError, structuredContent } = await client.callTool({ name: 'list_runs' });
    expect(isError).toBe(true);
    expect(structuredContent).toMatchObject({ code: 'STATE_IO', remedy: expect.any(String) });
    expect(readdirSync(dir)).toEqual([]);
  });
});
