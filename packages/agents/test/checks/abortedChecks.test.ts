import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { test } from '../../../core/test/support/fixtures.ts';
import { oneCallGraph } from '../../../core/test/support/oneCallGraph.ts';
import { CommandChecks } from '../../src/checks/CommandChecks.ts';

/** Says who it is and who its own child is, and then neither ends. */
const HANGS = `
  const { spawn } = require('node:child_process');
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  require('node:fs').writeFileSync('pids.part', process.pid + ' ' + child.pid);
  require('node:fs').renameSync('pids.part', 'pids');
  setInterval(() => {}, 1000);`;

async function pidsIn(dir: string): Promise<readonly number[]> {
  const path = join(dir, 'pids');
  while (!existsSync(path)) await sleep(10);
  return readFileSync(path, 'utf8').split(' ').map(Number);
}

/** A killed process stays a zombie until its parent reaps it. */
function isRunning(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return false;
  const stat = readFileSync(path, 'utf8');
  return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
}

describe('an abort', () => {
  test('ends the command of a check and what that started, and the check is made again', async ({
    db,
    dbPath,
  }) => {
    const dir = dirname(dbPath);
    let isHanging = true;
    const attempts: number[] = [];
    const app = oneCallGraph(db, async ({ signal, attempt }) => {
      attempts.push(attempt);
      const checks = new CommandChecks({ argv: [process.execPath, '-e', isHanging ? HANGS : ''] });
      return (await checks.run({ dir, signal })).passed;
    });

    const abort = new AbortController();
    const driving = app.run('run', {}, { abort: abort.signal });
    const pids = await pidsIn(dir);
    expect(pids.map(isRunning)).toEqual([true, true]);
    abort.abort();
    await expect(driving).rejects.toThrow('This operation was aborted');
    while (pids.some(isRunning)) await sleep(5); // the test's time limit ends this if a process stays

    isHanging = false;
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { passed: true } });
    expect(attempts).toEqual([1, 2]);
  });
});
