import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Gate } from '@devs/core';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { moduleFile } from '../../core/test/support/programFile.ts';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';
import { startBin } from './support/startBin.ts';

const ADA = { kind: 'human', id: 'ada' } as const;

describe('devs worker over a state file', () => {
  test('executes the runs of a module’s apps, each its own, until SIGTERM', async ({ dir }) => {
    vi.stubEnv('GREETER_FILE', join(dir, '.devs', 'state.sqlite'));
    onTestFinished(() => void vi.unstubAllEnvs());
    const { hello, bye, later } = await import('./support/fileGreeter.ts');
    const module = moduleFile(new URL('support/fileGreeter.ts', import.meta.url));
    const { child, ended } = startBin(dir, ['worker', module, '--concurrency', '2', '--json']);
    await hello.start('h', { name: 'Ada' });
    await bye.start('b', { name: 'Ada' });
    expect(await hello.result('h', { wait: true })).toMatchObject({ values: { greeting: 'Hello, Ada' } });
    expect(await bye.result('b', { wait: true })).toMatchObject({ values: { greeting: 'Bye, Ada' } });
    for (const id of ['l', 'm']) {
      await later.start(id, ' Ada ');
      while ((await later.gates(id)).length === 0) await sleep(10);
    }
    await later.decide((await later.gates('l'))[0] as Gate, { value: 'Later', by: ADA });
    expect(await later.result('l', { wait: true })).toMatchObject({ values: 'Later, Ada' });
    child.kill('SIGTERM');
    const { exitCode, stdout, stderr } = await ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly is: string });
    expect(lines[0]).toEqual({ is: 'started', slots: 2, graphs: [hello.queue, bye.queue, later.queue] });
    const settled = { is: 'settled', status: 'completed' };
    expect(lines.slice(1)).toEqual(
      expect.arrayContaining([
        { ...settled, threadId: 'h', runId: 'h' },
        { ...settled, threadId: 'b', runId: 'b' },
        { ...settled, threadId: 'l', runId: 'l' },
        { ...settled, threadId: 'm', runId: 'm', status: 'waiting' },
        { is: 'draining' },
        { is: 'stopped' },
      ]),
    );
    await Promise.all([hello.close(), bye.close(), later.close()]);

    for (const verb of ['pause', 'cancel']) {
      const stopped = await callMain(dir, [verb, 'm', '--by', 'ada', '--json']);
      expect(JSON.parse(stopped.stdout)).toMatchObject({ id: 'm', requested: verb, accepted: true });
    }
    const pause = await callMain(dir, ['pause', 'l', '--json']);
    expect(JSON.parse(pause.stdout)).toMatchObject({ accepted: false, status: 'completed' });
    const examined = await callMain(dir, ['doctor', '--json']);
    expect(JSON.parse(examined.stdout)).toMatchObject({ ok: true, findings: [] });
  });

  const stub = (work: string): string =>
    `{ queue: { graph: '', fingerprint: 'fedcba987' }, runs: null, close: async () => {}, work: ${work} }`;
  const moduleIn = (dir: string, text: string): string => {
    const file = join(dir, 'app.mjs');
    writeFileSync(file, text);
    return file;
  };

  test('says what it does, and that a run cannot be executed; after the time to drain it ends calls', async ({
    dir,
  }) => {
    const work = `({ concurrency, signal, abort, onRun, onError }) => new Promise((resolve) => {
      onRun({ id: 'r1', status: 'completed' });
      onError(new Error('broken'), 'r2');
      abort.addEventListener('abort', () => resolve());
    })`;
    const file = moduleIn(dir, `export default ${stub(work)};`);
    const called = await callMain(dir, ['worker', file, '--slots', '3', '--drain-ms', '5'], {
      signal: AbortSignal.abort(),
    });
    expect(called).toEqual({
      exitCode: 0,
      stderr: '',
      stdout: [
        'executing fedcba98 in 3 slots; press Ctrl-C to drain',
        'r1: settled (completed)',
        'r2: failed: Error: broken',
        'draining: runs stop at their next safe point',
        'stopped\n',
      ].join('\n'),
    });
  });

  test('stops every app where one cannot go on, and says why', async ({ dir }) => {
    const waits = `({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve()))`;
    const fails = `() => Promise.reject(new Error('no such file'))`;
    const file = moduleIn(dir, `export const apps = [${stub(waits)}, ${stub(fails)}];`);
    const called = await callMain(dir, ['worker', file]);
    expect(called).toMatchObject({ exitCode: 70, stderr: expect.stringContaining('no such file') });
  });

  test.for([
    ['a port for health', ['--health-port', '0'], '--health-port needs'],
    ['the same twice', ['--slots', '1', '--concurrency', '2'], 'same option'],
    ['no run at a time', ['--concurrency', '0'], '--concurrency "0" is invalid'],
  ] as const)('refuses %s', async ([, flags, said], { dir }) => {
    const file = moduleIn(dir, `export default ${stub('async () => {}')};`);
    const called = await callMain(dir, ['worker', file, ...flags]);
    expect(called).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(said) });
  });

  test('refuses a module with apps in a file and in a cluster', async ({ dir }) => {
    const other = `{ queue: { graph: 'x', fingerprint: 'f' }, drive() {}, runs: { work() {} } }`;
    const file = moduleIn(dir, `export const apps = [${stub('async () => {}')}, ${other}];`);
    const called = await callMain(dir, ['worker', file]);
    expect(called).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('in state files and in a cluster'),
    });
  });
});
