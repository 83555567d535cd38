import { hostname } from 'node:os';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isOwnerAlive, localHost, ownerToken, thisHost } from '../threads/hostIdentity.ts';
import { Child } from './Child.ts';

/** Paths that this machine refuses to read. */
const unreadable = vi.hoisted(() => new Set<string>());

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const guarded =
    <Result>(read: (path: never, encoding: never) => Result) =>
    (path: string, encoding: string) => {
      if ([...unreadable].some((prefix) => path.startsWith(prefix))) throw new Error(`ENOENT: ${path}`);
      return read(path as never, encoding as never);
    };
  return { ...fs, readFileSync: guarded(fs.readFileSync), readlinkSync: guarded(fs.readlinkSync) };
});

afterEach(() => {
  unreadable.clear();
  vi.restoreAllMocks();
});

const IDLE = new URL('./idle.child.ts', import.meta.url);

describe('localHost', () => {
  test('finds its own process alive, and gives the same answers twice', () => {
    const host = localHost();
    expect(host.pid).toBe(process.pid);
    expect(host.isAlive(host.pid, host.startTime)).toBe(true);
    expect(localHost().bootId).toBe(host.bootId);
    expect(localHost().startTime).toBe(host.startTime);
  });

  test('is read once for all stores of a process', () => {
    const { bootId, startTime } = thisHost();
    expect({ bootId, startTime }).toEqual({ bootId: localHost().bootId, startTime: localHost().startTime });
    unreadable.add('/proc');
    expect(thisHost()).toMatchObject({ bootId, startTime });
  });

  test('reads a clock in whole milliseconds that does not go back', () => {
    const host = localHost();
    const first = host.monotonicMs();
    expect(Number.isSafeInteger(first)).toBe(true);
    expect(host.monotonicMs()).toBeGreaterThanOrEqual(first);
  });

  test('finds a killed process dead', async () => {
    const child = new Child(IDLE);
    const { token } = await child.read<{ token: string }>();
    const host = localHost();
    expect(isOwnerAlive(host, token)).toBe(true);
    await child.kill();
    expect(isOwnerAlive(host, token)).toBe(false);
  });

  test.runIf(process.platform === 'linux')('takes a pid with another start time for another process', () => {
    const host = localHost();
    expect(host.startTime).toMatch(/^\d+$/);
    expect(host.isAlive(host.pid, '1')).toBe(false);
    expect(host.isAlive(host.pid, '')).toBe(true);
  });
});

describe('an owner token', () => {
  test('names pid and start time', () => {
    expect(ownerToken({ pid: 7, startTime: '99' })).toBe('7:99');
    expect(ownerToken({ pid: 7, startTime: '' })).toBe('7:');
  });

  test('that cannot be read counts as alive', () => {
    expect(isOwnerAlive(localHost(), 'somebody')).toBe(true);
  });
});

describe('a machine that tells less', () => {
  test('without /proc is named by its host, and asks a process for life by a signal', async () => {
    vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
    unreadable.add('/proc');
    const host = localHost();
    expect([host.bootId, host.startTime]).toEqual([hostname(), '']);
    const child = new Child(IDLE);
    const { token } = await child.read<{ token: string }>();
    expect(isOwnerAlive(host, token)).toBe(true);
    await child.kill();
    expect(isOwnerAlive(host, token)).toBe(false);
  });

  test.runIf(process.platform === 'linux')(
    'that hides namespaces or other processes is believed the living',
    () => {
      unreadable.add('/proc/self/ns');
      expect(localHost().bootId).toMatch(/^[0-9a-f-]{36}$/);
      unreadable.add('/proc/');
      expect(localHost().isAlive(process.pid, 'any')).toBe(true);
      expect(localHost().isAlive(2 ** 22 + 1, 'any')).toBe(false); // above the largest pid
    },
  );

  test('counts a process that may not be signalled as alive', () => {
    unreadable.add('/proc');
    vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
    });
    expect(localHost().isAlive(1, '')).toBe(true);
  });
});
