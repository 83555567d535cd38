import { describe, expect, test } from 'vitest';
import { isOwnerAlive, localHost, ownerToken } from '../hostIdentity.ts';
import { Child } from './Child.ts';

const IDLE = new URL('./idle.child.ts', import.meta.url);

describe('localHost', () => {
  test('finds its own process alive, and gives the same answers twice', () => {
    const host = localHost();
    expect(host.pid).toBe(process.pid);
    expect(host.isAlive(host.pid, host.startTime)).toBe(true);
    expect(localHost().bootId).toBe(host.bootId);
    expect(localHost().startTime).toBe(host.startTime);
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
