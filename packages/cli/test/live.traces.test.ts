import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished } from 'vitest';
import { callMain } from './support/callMain.ts';
import { BRIEF, CHECK_SUM, RUN_SUM, test } from './support/fixtures.ts';
import { sharedBin } from './support/sharedBin.ts';
import { startBin } from './support/startBin.ts';
import { stateHome } from './support/stateHome.ts';
import { trusting, writeConfig } from './support/writeConfig.ts';

const BIN = await sharedBin();
const TALKING = fileURLToPath(new URL('fixtures/talkingGate.mjs', import.meta.url));

/** What the talking command says, without its beginning. */
const CANARY = 'm7Q'.repeat(12);

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Polls: what is waited for comes from another process. */
async function until(condition: () => boolean, child: ChildProcess, screen: () => string): Promise<void> {
  while (!condition()) {
    if (child.exitCode !== null) throw new Error(`The process ended too early: ${screen()}`);
    await sleep(20);
  }
}

/** The real command on a pseudo-terminal, and what is written on it. */
function onTerminal(cwd: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const command = `stty cols 200 rows 50; exec ${[process.execPath, BIN, ...argv].map(quoted).join(' ')}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd,
    env: { ...process.env, TERM: 'xterm', SHELL: '/bin/sh', XDG_STATE_HOME: stateHome(), ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return {
    ended,
    screen: () => screen,
    shows: (what: RegExp) =>
      until(
        () => what.test(screen),
        child,
        () => screen,
      ),
  };
}

/** A provider that answers no call before it is let go; then it refuses. */
async function slowProvider() {
  const waiting: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => waiting.push(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const refuse = (): void => {
    for (const response of waiting) {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
    }
  };
  return { url: `http://127.0.0.1:${port}/v1`, refuse };
}

const talking = (dir: string, name: string, ...then: readonly string[]): string[] => [
  ...['node', TALKING, dir, name],
  ...then,
];

describe('a terminal on which a run is driven', () => {
  test('says what runs and for how long: setup, a check and what they print, masked', async ({ dir }) => {
    writeConfig(dir, {
      setup: talking(dir, 'setup'),
      checks: [{ name: 'all', argv: talking(dir, 'check', 'node', '--test') }],
    });
    const argv = RUN_SUM.filter((word) => word !== '--check' && word !== CHECK_SUM);
    const { ended, screen, shows } = onTerminal(dir, [
      ...argv,
      ...trusting(dir),
      '--no-repository',
      '--yes',
      '-v',
    ]);
    await shows(/preparing the folder: .* {2}0:01/);
    await shows(/│ setup says \[REDACTED:github\]/); // its process may take longer to start
    expect(screen()).not.toContain('half a line');
    writeFileSync(join(dir, 'setup'), '');

    await shows(/T1 {2}running the new test before the code: .* {2}0:01/);
    const { stdout: status } = await callMain(dir, ['status', 'sum']);
    expect(status).toMatch(/now +T1: running the new test before the code, for 0:0\d/);
    writeFileSync(join(dir, 'check'), '');
    expect(await ended).toBe(0);

    expect(screen()).toContain('│ half a line and its rest');
    expect(screen()).not.toContain(CANARY);
    expect(screen()).not.toContain('\u001b[2J');
    expect(screen()).toContain('│   12.3s  T9  committed forged');
    expect(screen()).not.toMatch(/^ {2}12\.3s {2}T9/m);
  });

  test('says how long a model has been asked', async ({ dir }) => {
    const provider = await slowProvider();
    const env = { OPENAI_API_KEY: 'plain-words-as-a-key', OPENAI_BASE_URL: provider.url };
    const given = ['--agents', 'openai:gpt-5', '--check', 'node --test', '--no-sandbox', '--no-ask'];
    const argv = ['run', BRIEF, ...given];
    const { ended, shows } = onTerminal(dir, argv, env);
    await shows(/writing the research {2}0:01/);
    provider.refuse();
    expect(await ended).toBe(1);
  });
});

describe('what was said in a stage', () => {
  test('is read while it runs, and after its process was killed', async ({ dir }) => {
    const check = talking(dir, 'check', 'node', '--test').join(' ');
    const argv = RUN_SUM.map((word) => (word === CHECK_SUM ? check : word));
    const run = startBin(dir, [...argv, '--yes']);
    onTestFinished(() => void run.child.kill('SIGKILL'));
    const file = join(dir, '.devs', 'state.sqlite');
    const read = () => callMain(dir, ['log', 'sum', '--stage', 'T1.red']);
    let red = { exitCode: 1, stdout: '' };
    while (!red.stdout.includes('check says')) {
      expect(run.child.exitCode).toBeNull();
      await sleep(50);
      if (existsSync(file)) red = await read();
    }
    const following = startBin(dir, ['log', 'sum', '--follow', '-v']);
    onTestFinished(() => void following.child.kill('SIGKILL'));
    run.child.kill('SIGKILL');
    await run.ended;

    expect((await read()).stdout).toContain('│ check says [REDACTED:github]');
    expect((await callMain(dir, ['status', 'sum', '--json'])).stdout).toContain('"running": null');
    for (const name of ['state.sqlite', 'state.sqlite-wal']) {
      const path = join(dir, '.devs', name);
      if (existsSync(path)) expect(readFileSync(path).includes(CANARY), name).toBe(false);
    }
    writeFileSync(join(dir, 'check'), '');
    expect((await callMain(dir, ['resume', 'sum'])).exitCode).toBe(0);

    const { exitCode, stdout } = await following.ended;
    expect(exitCode).toBe(0);
    expect(stdout).toContain('T1.red\n');
    expect(stdout).toContain('│ check says [REDACTED:github]');
    expect(stdout).toContain('ended: completed');
    const first = await callMain(dir, ['log', 'sum', '--stage', 'T1.red', '--attempt', '1', '--json']);
    const entries = JSON.parse(first.stdout) as { readonly attempt: number; readonly activity: object }[];
    expect(entries[0]).toMatchObject({ attempt: 1, stage: 'T1.red', activity: { kind: 'doing' } });
    expect(await read()).toMatchObject({ stdout: expect.stringMatching(/^T1\.red, attempt 2, /) });

    const unknown = await callMain(dir, ['log', 'sum', '--stage', 'T9.red']);
    expect(unknown).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('available: T1.red, '),
    });
    const attempt = await callMain(dir, ['log', 'sum', '--stage', 'T1.red', '--attempt', '7']);
    expect(attempt).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('from 1 to 2') });
    expect((await callMain(dir, ['log', 'sum', '--stage', 'T1.red', '-f'])).exitCode).toBe(2);
    const followed = await callMain(dir, ['log', 'sum', '--follow', '--json']);
    const rows = followed.stdout.trim().split('\n');
    expect((JSON.parse(rows.at(-1) ?? '') as { readonly name: string }).name).toBe('RUN_FINISHED');
  });
});
