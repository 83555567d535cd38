import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { leaseFence, NO_FENCE } from '../commits/immediateTransaction.ts';
import { ThreadStore } from '../threads/ThreadStore.ts';
import { aHost, aThread } from './aThread.ts';

describe('leaseFence', () => {
  test('lets the holder of the current epoch write', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread());
    const claim = threads.claim('run-1');
    expect(claim.kind).toBe('claimed');
    expect(() => leaseFence(db, { threadId: 'run-1', epoch: 1 }).assertInTx()).not.toThrow();
  });

  test('refuses an older epoch, and a run that is not there', ({ db }) => {
    const host = aHost();
    const threads = new ThreadStore(db, { host });
    threads.create(aThread());
    threads.claim('run-1');
    host.clock = 10_000;
    threads.claim('run-1');
    const lost = expect.objectContaining({ code: 'LEASE_LOST' });
    expect(() => leaseFence(db, { threadId: 'run-1', epoch: 1 }).assertInTx()).toThrow(lost);
    expect(() => leaseFence(db, { threadId: 'nowhere', epoch: 1 }).assertInTx()).toThrow(lost);
  });

  test('is not broken by an expiry nobody used', ({ db }) => {
    const host = aHost();
    const threads = new ThreadStore(db, { host });
    threads.create(aThread());
    threads.claim('run-1');
    host.clock = 1_000_000;
    expect(() => leaseFence(db, { threadId: 'run-1', epoch: 1 }).assertInTx()).not.toThrow();
  });

  test('NO_FENCE refuses nothing', () => {
    expect(() => NO_FENCE.assertInTx()).not.toThrow();
  });
});
