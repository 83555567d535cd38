import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { type ProcessEnd, type ProcessRequest, runProcess } from '../runProcess.ts';

const ENV = { PATH: process.env['PATH'] ?? '' };

/** Runs a shell script, and collects what it says. */
async function run(
  script: string,
  request: Partial<ProcessRequest> = {},
): Promise<ProcessEnd & { readonly out: string; readonly err: string }> {
  const said = { out: '', err: '' };
  const end = await runProcess({
    argv: ['sh', '-c', script],
    cwd: '/',
    env: ENV,
    timeoutMs: 20_000,
    onStdout: (chunk) => {
      said.out += chunk.toString();
    },
    onStderr: (chunk) => {
      said.err += chunk.toString();
    },
    ...request,
  });
  return { ...end, ...said };
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function assertEnds(pid: number): Promise<void> {
  expect(pid).toBeGreaterThan(1);
  while (isAlive(pid)) await sleep(10); // a killed process is there until its new parent has looked
}

describe('a command', () => {
  test('gets its input and nothing of the environment, and gives both outputs and its code', async () => {
    const end = await run('cat; echo "$HOME" >&2; exit 3', { stdin: 'to be read' });
    expect(end).toEqual({ exitCode: 3, stoppedBy: null, out: 'to be read', err: '\n' });
  });

  test('without an input reads an empty one', async () => {
    expect(await run('cat')).toMatchObject({ exitCode: 0, out: '' });
  });

  test('is not started where there are no process groups to end it by', async () => {
    const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('win32');
    try {
      await expect(run('exit 0')).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        remedy: expect.stringContaining('WSL'),
      });
    } finally {
      platform.mockRestore();
    }
  });

  test('may end without reading its input', async () => {
    expect(await run('exit 0', { stdin: 'x'.repeat(1024 * 1024) })).toMatchObject({ exitCode: 0 });
  });

  test('that does not exist, or is not named, is an error', async () => {
    await expect(run('', { argv: ['no-such-command-anywhere'] })).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(run('', { argv: [] })).rejects.toThrow(TypeError);
    await expect(run('', { argv: [''] })).rejects.toThrow(TypeError);
  });

  test('takes along what it left running when it ends', async () => {
    const { out } = await run('sleep 300 & echo $!');
    await assertEnds(Number(out));
  });
});

describe('a command that is stopped', () => {
  test('by its time limit ends with all it has started', async () => {
    const end = await run('sleep 300 & echo $!; wait', { timeoutMs: 1_500 });
    expect(end).toMatchObject({ exitCode: null, stoppedBy: 'timeout' });
    await assertEnds(Number(end.out));
  });

  test('by its caller, before it began or later, says so', async () => {
    expect(await run('sleep 300', { signal: AbortSignal.abort() })).toMatchObject({ stoppedBy: 'abort' });
    const controller = new AbortController();
    const running = run('echo on; sleep 300', {
      signal: controller.signal,
      onStdout: () => controller.abort(),
    });
    expect(await running).toMatchObject({ exitCode: null, stoppedBy: 'abort' });
  });

  test('and does not listen is killed; the first reason counts', async () => {
    const controller = new AbortController();
    const running = run('trap "" TERM; echo on; while :; do sleep 1; done', {
      timeoutMs: 1_500,
      signal: controller.signal,
      onStdout: () => controller.abort(),
    });
    expect(await running).toEqual({ exitCode: null, stoppedBy: 'abort', out: '', err: expect.any(String) });
  });
});
