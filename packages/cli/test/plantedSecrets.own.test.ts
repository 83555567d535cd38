import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Gate, Orchestrator } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { createUi } from '@devs/ui';
import { expect, onTestFinished } from 'vitest';
import { GateNotifier } from '../src/drive/GateNotifier.ts';
import type { Session } from '../src/project/Session.ts';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

// Secrets of many kinds in whatever a run is given, says or meets, and none of them where people look. The state keeps what it is
// given; so whatever shows a part of it has to mask it.

const ADA = { kind: 'human', id: 'ada' } as const;

/** Made up, the same for the same place. */
const made = (place: string, count: number): string =>
  `${place}7Qx${place.toUpperCase()}3k`.repeat(count).slice(0, count);

/** What a gate hides, too: registered, or of a fixed form that can be no command. */
const narrow = (place: string): readonly string[] => [
  `ghp_${made(place, 36)}`,
  `glpat-${made(`${place}g`, 20)}`,
  `npm_${made(`${place}n`, 36)}`,
  `known-${made(`${place}r`, 20)}`,
];

/** What only the broad rules find. */
const broad = (place: string): readonly string[] => [
  made(`${place}p`, 14),
  made(`${place}u`, 16),
  made(`${place}s`, 30),
  made(`${place}t`, 28),
  made(`${place}k`, 64),
];

function planted(place: string): string {
  const [github, gitlab, npm, registered] = narrow(place);
  const [password, url, slack, header, key] = broad(place);
  return [
    `The key is ${github}, or ${gitlab}; npm has "${npm}". ${registered}`,
    `password=${password} and postgres://app:${url}@db.internal/app`,
    `hook: xoxb-${slack}`,
    `Authorization: Bearer ${header}`,
    `-----BEGIN PRIVATE KEY-----\n${key}\n${key}\n-----END PRIVATE KEY-----`,
  ].join('\n');
}

const PLACES = ['b', 'd', 'e', 'f', 'c', 'a', 'i', 'v', 'q'] as const;
const [BRIEF, DESIGN, ERROR, FEEDBACK, CHECK, ACTIVITY, WORK, REVIEW, PLAN] = PLACES;
const NARROW = PLACES.flatMap(narrow);
const EVERY = [...NARROW, ...PLACES.flatMap(broad)];

const leaksIn = (text: string, secrets: readonly string[]): readonly string[] =>
  secrets.filter((secret) => text.includes(secret));

async function openPlanted(dir: string, heard: unknown[]): Promise<Orchestrator> {
  const agents = fakeAgents({ tasks: 1 });
  const checks = scriptedChecks();
  let failures = 1;
  const devs = await Orchestrator.open({
    dir: join(dir, '.devs'),
    secrets: { fromEnv: false, values: PLACES.map((place) => narrow(place)[3] ?? '') },
    agents: {
      ...agents,
      design: async () => ({ documents: [{ type: 'PRD', title: 'PRD', content: planted(DESIGN) }] }),
      distill: async (request, call) => {
        const { epics, ...plan } = await agents.distill(request, call);
        return { ...plan, epics: epics.map((epic) => ({ ...epic, description: planted(PLAN) })) };
      },
      implement: async (request, call) => {
        for (const piece of planted(ACTIVITY).match(/[\s\S]{1,17}/g) ?? []) {
          call.onActivity?.({ kind: 'text', text: piece });
        }
        call.onActivity?.({
          kind: 'tool',
          id: '1',
          name: 'sh',
          state: 'finished',
          detail: planted(ACTIVITY),
        });
        failures -= 1;
        if (failures === 0) throw new Error(planted(ERROR), { cause: new Error(planted(ERROR)) });
        return { ...(await agents.implement(request, call)), summary: planted(WORK) };
      },
      review: async () => ({ approved: true, comments: planted(REVIEW) }),
    },
    workspace: new MemoryWorkspace(),
    checks: { run: async (request) => ({ ...(await checks.run(request)), output: planted(CHECK) }) },
  });
  devs.events.onAny((name, payload) => heard.push([name, payload]));
  devs.events.onActivity((activity) => heard.push(activity));
  return devs;
}

/** What each command prints about a run. */
async function printed(dir: string, argvs: readonly (readonly string[])[]): Promise<string> {
  const said: string[] = [];
  for (const argv of argvs) {
    for (const form of [[], ['--json']]) {
      const { stdout, stderr } = await callMain(dir, [...argv, ...form]);
      said.push(stdout, stderr);
    }
  }
  return said.join('\n');
}

/** Every part of a run that the page asks for. */
async function onPage(dir: string, id: string): Promise<string> {
  const ui = createUi({ dir: join(dir, '.devs'), hosts: ['x.test'], identify: () => ADA });
  const get = async (path: string): Promise<string> => {
    const response = await ui(
      new Request(`http://x.test${path}`, { headers: { host: 'x.test', 'sec-fetch-site': 'same-origin' } }),
    );
    expect(response.status, path).toBe(200);
    return response.text();
  };
  const at = `/api/runs/${id}`;
  const paths = ['/api/inbox', '/api/runs', '/api/waiting', at, `${at}/timeline`, `${at}/log`, `${at}/graph`];
  const texts = await Promise.all(paths.map(get));
  const list = await get(`${at}/checkpoints`);
  const { checkpoints } = JSON.parse(list) as { checkpoints: readonly { checkpointId: string }[] };
  for (const { checkpointId } of checkpoints) texts.push(await get(`${at}/checkpoints/${checkpointId}`));
  expect(checkpoints.length).toBeGreaterThan(3);
  return [...texts, list].join('\n');
}

const MCP = fileURLToPath(new URL('../../mcp/src/bin.ts', import.meta.url));

/** What the tools and resources of MCP answer, in a process of its own, which knows registered values by their variables. */
async function overMcp(dir: string, asked: readonly (readonly [string, object])[]): Promise<string> {
  const argv = ['--conditions=@devs/source', '--import', 'tsx', MCP, '--dir', join(dir, '.devs')];
  const known = PLACES.map((place) => [`PLANTED_${place}_TOKEN`, narrow(place)[3] ?? '']);
  const env = { ...process.env, ...Object.fromEntries(known) };
  const server = spawn(process.execPath, argv, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void server.kill());
  let answered = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    answered += text;
  });
  const send = (message: object): boolean =>
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', version: '0' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  send({ id: 0, method: 'initialize', params });
  await expect.poll(() => answered, { timeout: 30_000 }).toContain('\n');
  send({ method: 'notifications/initialized' });
  for (const [index, [method, given]] of asked.entries()) send({ id: index + 1, method, params: given });
  await expect.poll(() => answered.split('\n').length, { timeout: 30_000 }).toBeGreaterThan(asked.length + 1);
  server.kill();
  return answered;
}

test('no secret that is planted in a run is where people look', { timeout: 60_000 }, async ({ dir }) => {
  const heard: unknown[] = [];
  const devs = await openPlanted(dir, heard);
  const run = await devs.start({ id: 'planted', brief: `# Planted\n\n${planted(BRIEF)}\n` });
  await run.resume();

  // At a gate, where nothing that is approved is hidden by a guess.
  const [gate] = (await run.gates()) as readonly [Gate];
  const told = join(dir, 'told.json');
  const tell = join(dir, 'tell.sh');
  writeFileSync(tell, `#!/bin/sh\ncat >> ${told}\n`);
  chmodSync(tell, 0o755);
  const session = {
    devs: (...words: readonly string[]) => ['devs', ...words].join(' '),
    io: { env: { PATH: process.env['PATH'] }, cwd: dir },
    out: { note: (text: string) => heard.push(text) },
  };
  const notifier = new GateNotifier(tell, session as unknown as Session);
  notifier.onGate(gate);
  await notifier.settled();
  const atGate = [
    readFileSync(told, 'utf8'),
    await printed(dir, [['gates'], ['show', gate.sessionId], ['show', gate.sessionId, '--md']]),
    await overMcp(dir, [['tools/call', { name: 'get_gates', arguments: { threadId: 'planted' } }]]),
  ].join('\n');
  expect(leaksIn(atGate, NARROW)).toEqual([]);
  expect(atGate).toContain('[REDACTED:');

  await run.decide(gate, { approved: false, feedback: planted(FEEDBACK), by: ADA });
  for (let now = await run.resume(); now.status === 'waiting'; now = await run.resume()) {
    for (const open of now.gates) {
      const { hiddenCount } = JSON.parse(
        (await callMain(dir, ['show', open.sessionId, '--json'])).stdout,
      ) as {
        hiddenCount: number;
      };
      const isFailure = open.kind === 'task_failure';
      await run.decide(open, {
        ...(isFailure ? { action: 'retry', guidance: planted(FEEDBACK) } : { approved: true }),
        ...(hiddenCount > 0 && { withHidden: hiddenCount }),
        by: ADA,
      });
    }
  }
  const status = await run.status();
  devs.close();
  expect(status.status).toBe('completed');

  const stage = 'T1.implement';
  const shown = [
    ['events', JSON.stringify(heard)],
    ['outcome', JSON.stringify({ ...status, gates: [] })],
    [
      'terminal',
      await printed(dir, [
        ['status'],
        ['status', 'planted'],
        ['log', 'planted'],
        ['log', 'planted', '--stage', stage],
        ['log', 'planted', '--stage', stage, '--attempt', '1'],
        ['explain', 'planted'],
        ['doctor'],
      ]),
    ],
    ['page', await onPage(dir, 'planted')],
    [
      'mcp',
      await overMcp(dir, [
        ['tools/call', { name: 'list_runs', arguments: {} }],
        ['tools/call', { name: 'get_run', arguments: { threadId: 'planted' } }],
        ['tools/call', { name: 'get_log', arguments: { threadId: 'planted' } }],
        ['tools/call', { name: 'get_transcript', arguments: { threadId: 'planted', stage } }],
        ['tools/call', { name: planted('b'), arguments: {} }],
        ['resources/read', { uri: 'devs://runs/planted' }],
      ]),
    ],
  ] as const;
  for (const [place, text] of shown) expect(leaksIn(text, EVERY), place).toEqual([]);
  // They were there.
  for (const [place, text] of shown.filter(([name]) => name !== 'outcome'))
    expect(text, place).toContain('REDACTED');
});
