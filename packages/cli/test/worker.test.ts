import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { moduleFile } from '../../core/test/support/programFile.ts';
import { query } from '../../postgres/test/support/query.ts';
import { type PostgresServer, startPostgres } from '../../postgres/test/support/startPostgres.ts';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';
import { startBin } from './support/startBin.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
  vi.stubEnv('GREETER_URL', server.url);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.stop();
});

const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

describe('devs worker', () => {
  test('drives the runs of a module’s app until it is told to stop', async ({ dir }) => {
    const { app } = await import('./support/greeter.ts');
    await app.start('hello-1', { name: 'Ada' }, { by: { kind: 'human', id: 'ada' } });
    const module = moduleFile(new URL('support/greeter.ts', import.meta.url));
    const { child, ended } = startBin(dir, [
      'worker',
      module,
      '--slots',
      '2',
      '--health-port',
      '0',
      '--json',
    ]);
    const standing = await app.result('hello-1', { wait: true });
    expect(standing).toMatchObject({ status: 'completed', values: { greeting: 'Hello, Ada' } });
    const isThere = `SELECT 1 FROM devs.workers WHERE slots = 2`;
    expect(await query(server.url, isThere)).toHaveLength(1);
    while ((await query(server.url, 'SELECT 1 FROM devs.runs WHERE owner IS NOT NULL')).length > 0)
      await sleep(10);
    child.kill('SIGTERM');
    const { exitCode, stdout, stderr } = await ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(linesOf(stdout)).toEqual([
      { is: 'started', slots: 2, healthPort: expect.any(Number), graphs: [app.queue] },
      { is: 'driving', threadId: 'hello-1', runId: 'hello-1' },
      { is: 'settled', threadId: 'hello-1', runId: 'hello-1', status: 'completed' },
      { is: 'draining', runs: 0 },
      { is: 'stopped', left: 0 },
    ]);
    expect(await query(server.url, isThere)).toEqual([]);
    await app.close();
  });

  const STUB = `{ queue: { graph: 'stub', fingerprint: 'f' }, drive() {}, runs: RUNS }`;
  const RUNS = (left: number) => `{
    close: async () => {},
    work: async ({ onEvent }) => {
      onEvent({ is: 'waiting', error: new Error('nobody listens') });
      onEvent({ is: 'driving', threadId: 'r1' });
      onEvent({ is: 'failed', threadId: 'r1', error: new Error('broken'), attempt: 1 });
      onEvent({ is: 'away', error: new Error('no answer') });
      return { slots: 1, healthPort: 8080, busy: 1, cutOff() {}, stop: async ({ drainMs }) => { onEvent({ is: 'settled', threadId: 'r1', status: String(drainMs) }); return ${left}; } };
    },
  }`;
  const moduleIn = (dir: string, text: string): string => {
    const file = join(dir, `app-${text.length}.mjs`);
    writeFileSync(file, text);
    return file;
  };

  test.for([
    [0, 0, 'stopped\n'],
    [1, 75, 'stopped; 1 runs were interrupted and can be resumed\n'],
  ] as const)(
    'says what it does; where %i runs are left, it ends with %i',
    async ([left, code, last], { dir }) => {
      const file = moduleIn(
        dir,
        `const RUNS = ${RUNS(left)};\nexport default ${STUB};\nexport const apps = [${STUB}];`,
      );
      const called = await callMain(dir, ['worker', file, '--drain-ms', '7'], {
        signal: AbortSignal.abort(),
      });
      expect(called).toEqual({
        exitCode: code,
        stderr: '',
        stdout: [
          'waiting for PostgreSQL: Error: nobody listens',
          'r1: driving',
          'r1: failed: Error: broken',
          'PostgreSQL is unreachable: Error: no answer',
          'executing stub (f), stub (f) in 1 slots; press Ctrl-C to drain',
          'health on port 8080',
          'draining: 1 runs stop at their next safe point',
          'r1: settled (7)',
          last,
        ].join('\n'),
      });
    },
  );

  const WAITS = 'waiting for PostgreSQL: nobody listens\n';
  test.for([
    ['AbortError', { exitCode: 0, stderr: '', stdout: `${WAITS}stopped\n` }],
    ['Error', { exitCode: 70, stderr: expect.stringContaining('told'), stdout: WAITS }],
  ] as const)(
    'stops when it is told to while it waits for PostgreSQL: %s',
    async ([name, ended], { dir }) => {
      const runs = `{
      close: async () => {},
      work: ({ onEvent, signal }) => new Promise((_, reject) => {
        const told = Object.assign(new Error('told'), { name: '${name}' });
        signal.addEventListener('abort', () => reject(told));
        onEvent({ is: 'waiting', error: 'nobody listens' });
      }),
    }`;
      const file = moduleIn(dir, `const RUNS = ${runs};\nexport default ${STUB};`);
      const stopping = new AbortController();
      const onWrite = (): void => stopping.abort();
      expect(await callMain(dir, ['worker', file], { signal: stopping.signal, onWrite })).toEqual(ended);
    },
  );

  test.for([
    ['that is not there', null, [], 'cannot be loaded'],
    ['that lacks a package', `import 'no-such-package-of-ours';`, [], 'npm install no-such-package-of-ours'],
    ['without an app', 'export const app = 7;', [], 'does not export an app'],
    [
      'over two clusters',
      `const RUNS = { work() {} };\nexport default [${STUB}, { ...${STUB}, runs: { work() {} } }];`,
      [],
      'different clusters',
    ],
    ['and no slot', 'export const app = 7;', ['--slots', '0'], '--slots "0" is invalid'],
    ['and no port', 'export const app = 7;', ['--health-port', '65536'], '"65536" is not a port'],
    ['and no time', 'export const app = 7;', ['--drain-ms', 'soon'], '--drain-ms "soon" is invalid'],
  ] as const)('refuses a module %s', async ([, text, flags, said], { dir }) => {
    const file = text === null ? 'nowhere.mjs' : moduleIn(dir, text);
    const called = await callMain(dir, ['worker', file, ...flags]);
    expect(called).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(said) });
  });
});
