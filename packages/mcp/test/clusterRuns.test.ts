import { join } from 'node:path';
import { createDatabase, FileRuns, Orchestrator, type OrchestratorOptions } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { type Cluster, startCluster } from '../../postgres/test/support/startCluster.ts';
import { OrchestratorServer, type OrchestratorServerOptions } from '../src/OrchestratorServer.ts';
import { test } from './support/fixtures.ts';
import { argvOf } from './support/program.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const ADA = { kind: 'human', id: 'ada' } as const;
const AT = Date.UTC(2026, 0, 2);

/** Two runs at a place, the same each time: one with a gate that was sent back, one that was not driven. */
async function twoRuns(at: Pick<OrchestratorOptions, 'dir' | 'runs'>): Promise<void> {
  let ids = 0;
  let clock = AT;
  const devs = await Orchestrator.open({
    ...at,
    ...{ agents: fakeAgents({ tasks: 2 }), workspace: new MemoryWorkspace(), checks: scriptedChecks() },
    ...{ now: () => clock++, newId: () => `id-${ids++}` },
  });
  const run = await devs.start({ id: 'shop', brief: '# Shop\n\nSell things.\n' });
  const [gate] = (await run.resume()).gates;
  if (gate !== undefined) await run.decide(gate, { approved: false, feedback: 'Shorter.', by: ADA });
  await run.resume();
  await devs.start({ id: 'later', brief: '# Later\n\nSell more.\n' });
  devs.close();
}

async function connect(options: OrchestratorServerOptions): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await new OrchestratorServer(options).mcpServer().connect(theirs);
  const client = new Client({ name: 'test', version: '0' });
  await client.connect(ours);
  onTestFinished(() => client.close());
  return client;
}

const CALLS = [
  ['list_runs', {}],
  ['list_runs', { limit: 1 }],
  ['list_runs', { after: 'later' }],
  ['list_runs', { after: 'nobody' }],
  ['get_run', { threadId: 'shop' }],
  ['get_run', { threadId: 'nobody' }],
  ['get_gates', { threadId: 'shop' }],
  ['get_log', { threadId: 'shop', limit: 5 }],
  ['get_transcript', { threadId: 'shop', stage: 'none' }],
  ['get_recursion_depth', { threadId: 'shop' }],
] as const;

/** What every tool says. Times, ids of rows and the folder are those of each place, the words of an error too. */
async function answers(client: Client): Promise<readonly unknown[]> {
  const said: unknown[] = [];
  for (const [name, args] of CALLS) {
    const { structuredContent, isError } = await client.callTool({ name, arguments: args });
    const { code, workspace: _, ...shown } = structuredContent as Record<string, unknown>;
    said.push(isError === true ? [name, code] : [name, shown]);
  }
  const [listed] = (await client.readResource({ uri: 'devs://runs' })).contents;
  said.push(listed !== undefined && 'text' in listed ? JSON.parse(listed.text) : null);
  const text = JSON.stringify(said).replaceAll(/"2026-01-02T[^"]+"/g, '"then"');
  return JSON.parse(
    text.replaceAll(/"(?:id-\d+)"/g, '"id"').replaceAll(/"visit":"[^"]+"/g, '"visit":"a visit"'),
  );
}

describe('the server over runs that have a file each', () => {
  test('says in a cluster, and over one file, what it says of a folder', async ({ dir }) => {
    await twoRuns({ dir });
    const expected = await answers(await connect({ dir }));
    expect(expected).toHaveLength(CALLS.length + 1);
    expect(expected[0]).toMatchObject(['list_runs', { runs: [{ id: 'later' }, { openGates: 1 }] }]);
    expect(expected[5]).toEqual(['get_run', 'THREAD_NOT_FOUND']);

    const runs = cluster.runs();
    await twoRuns({ runs });
    expect(await answers(await connect({ runs }))).toEqual(expected);
    const db = createDatabase({ dbPath: join(dir, 'other.sqlite') });
    onTestFinished(() => void db.close());
    await twoRuns({ runs: new FileRuns(db) });
    expect(await answers(await connect({ runs: new FileRuns(db) }))).toEqual(expected);
  });

  test('is a program, too, that ends with its client', async () => {
    const client = new Client({ name: 'test', version: '0' });
    const runs = cluster.runs({ schema: 'program' });
    await twoRuns({ runs });
    const program = new URL('../src/bin.ts', import.meta.url);
    const args = argvOf(program, '--db', cluster.server.url, '--schema', 'program');
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
    const { structuredContent } = await client.callTool({ name: 'list_runs' });
    expect(structuredContent).toMatchObject({ runs: [{ id: 'later' }, { id: 'shop' }] });
    await client.close();
  });

  test('wants either a folder or runs', () => {
    expect(() => new OrchestratorServer({})).toThrow(TypeError);
    expect(() => new OrchestratorServer({ dir: 'x', runs: cluster.runs() })).toThrow(TypeError);
  });
});
