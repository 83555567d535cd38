import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { aHost, aThread } from '../../../state/__tests__/aThread.ts';
import { LEASE_TTL_MS, ThreadStore } from '../../../state/threads/ThreadStore.ts';
import { holdLease } from '../lease.ts';

// Fake timers replace the global ones alone.
vi.mock('node:timers/promises', async (original) => ({
  ...(await original<typeof import('node:timers/promises')>()),
  setTimeout: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
}));

beforeEach(() => void vi.useFakeTimers());

afterEach(() => void vi.useRealTimers());

describe('a lease that is held', () => {
  test('is renewed until it is given back, so nobody else can claim the run', async ({ db }) => {
    const [host, other] = [aHost(), aHost({ pid: 200 })];
    const threads = new ThreadStore(db, { host });
    threads.create(aThread());
    const held = await holdLease(threads, 'run-1');
    for (let beats = 0; beats < 12; beats += 1) {
      host.clock += LEASE_TTL_MS / 4;
      other.clock = host.clock;
      await vi.advanceTimersByTimeAsync(LEASE_TTL_MS / 4);
    }
    const rival = new ThreadStore(db, { host: other });
    await expect(holdLease(rival, 'run-1')).rejects.toMatchObject({ code: 'THREAD_BUSY' });
    held.stop();
    expect((await holdLease(rival, 'run-1')).recovered).toBe(false);
  });

  test('that was lost disturbs nobody: the writes of the run find out', async ({ db }) => {
    const host = aHost();
    const threads = new ThreadStore(db, { host });
    threads.create(aThread());
    const held = await holdLease(threads, 'run-1');
    db.exec('UPDATE threads SET lease_epoch = lease_epoch + 1');
    await vi.advanceTimersByTimeAsync(LEASE_TTL_MS);
    expect(() => threads.renew(held.lease)).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }));
    held.stop();
  });
});

describe('a holder on another host', () => {
  test('gets one lease time to renew, and is replaced when it does not', async ({ db }) => {
    const far = new ThreadStore(db, { host: aHost({ bootId: 'boot-2' }) });
    far.create(aThread());
    far.claim('run-1');
    const threads = new ThreadStore(db, { host: aHost() });
    const held = holdLease(threads, 'run-1');
    await vi.advanceTimersByTimeAsync(LEASE_TTL_MS);
    expect((await held).recovered).toBe(true);
  });

  test('keeps the run when it renews meanwhile', async ({ db }) => {
    const farHost = aHost({ bootId: 'boot-2' });
    const far = new ThreadStore(db, { host: farHost });
    far.create(aThread());
    const claim = far.claim('run-1');
    const refused = expect(holdLease(new ThreadStore(db, { host: aHost() }), 'run-1')).rejects.toMatchObject({
      code: 'THREAD_BUSY',
    });
    farHost.clock += 1000;
    if (claim.kind === 'claimed') far.renew(claim.lease);
    await vi.advanceTimersByTimeAsync(LEASE_TTL_MS);
    await refused;
  });
});
