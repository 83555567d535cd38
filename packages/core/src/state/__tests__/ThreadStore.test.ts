import { dirname, join } from 'node:path';
import type { Database } from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { immediateTransaction } from '../commits/immediateTransaction.ts';
import type { NewSignal } from '../threads/SignalStore.ts';
import { LEASE_TTL_MS, ThreadStore } from '../threads/ThreadStore.ts';
import type { ClaimResult, Lease, ThreadStatus } from '../threads/threadRecords.ts';
import { aHost, aThread } from './aThread.ts';
import { Child } from './Child.ts';

const CLAIM = new URL('./claim.child.ts', import.meta.url);

function claimed(result: ClaimResult): Lease {
  if (result.kind !== 'claimed') throw new Error(`Expected a lease, got ${JSON.stringify(result)}`);
  return result.lease;
}

const withCode = (code: string) => expect.objectContaining({ code });

describe('runs', () => {
  test('a run is created once and returned as it is after that', ({ db }) => {
    const threads = new ThreadStore(db, { now: () => 42 });
    const first = threads.create(aThread({ policies: { gates: { dag: 'auto' } } }));
    const second = threads.create(aThread({ projectId: 'other', policies: {} }));
    expect(first.created).toBe(true);
    expect(second).toEqual({ thread: first.thread, created: false });
    expect(first.thread).toMatchObject({
      status: 'created',
      policies: { gates: { dag: 'auto' } },
      degraded: false,
      wakeSeq: 0,
      leaseEpoch: 0,
      createdAt: 42,
    });
  });

  test('a folder belongs to one live run', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread({ workspace: '/w' }));
    expect(() => threads.create(aThread({ threadId: 'run-2', workspace: '/w' }))).toThrow(
      withCode('WORKSPACE_BUSY'),
    );
    expect(threads.list()).toHaveLength(1);
  });

  test('a folder is one folder by its name from the state file and by its path', ({ db, dbPath }) => {
    const threads = new ThreadStore(db);
    const folder = join(dirname(dbPath), 'work', 'run');
    threads.create(aThread({ workspace: 'work/run' }));
    expect(threads.folderOf(threads.require('run-1'))).toBe(folder);
    for (const workspace of ['work/run', folder]) {
      const busy = expect.objectContaining({
        code: 'WORKSPACE_BUSY',
        message: expect.stringContaining(folder),
      });
      expect(() => threads.create(aThread({ threadId: 'run-2', workspace }))).toThrow(busy);
    }
    threads.create(aThread({ threadId: 'run-3', workspace: '/elsewhere/run' }));
    expect(threads.folderOf({ workspace: '/elsewhere/run' })).toBe('/elsewhere/run');
    expect(threads.folderOf({ workspace: null })).toBeNull();
  });

  test('takes no status and no kind of signal that it does not know', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread());
    const lease = claimed(threads.claim('run-1'));
    const sleeping = 'sleeping' as ThreadStatus;
    expect(() => threads.settle(lease, sleeping, { seenWakeSeq: 0 })).toThrow(RangeError);
    const kind = 'sing' as NewSignal['kind'];
    expect(() => threads.signal('run-1', { id: 's', kind, payload: null })).toThrow(RangeError);
    expect(threads.require('run-1')).toMatchObject({ status: 'created', wakeSeq: 0 });
  });

  test('the folder of an ended run is free, and the ended run cannot begin again in it', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread({ workspace: '/w' }));
    threads.settle(claimed(threads.claim('run-1')), 'completed', { seenWakeSeq: 0 });
    threads.create(aThread({ threadId: 'run-2', workspace: '/w' }));
    const lease = claimed(threads.claim('run-1'));
    expect(() => threads.begin(lease)).toThrow(withCode('WORKSPACE_BUSY'));
    expect(threads.require('run-1').status).toBe('completed');
  });

  test('lists the newest first, also within one millisecond', ({ db }) => {
    const threads = new ThreadStore(db, { now: () => 1 });
    for (const threadId of ['a', 'b', 'c']) threads.create(aThread({ threadId }));
    expect(threads.list().map(({ threadId }) => threadId)).toEqual(['c', 'b', 'a']);
  });

  test('an unknown run is null to get and an error to require', ({ db }) => {
    const threads = new ThreadStore(db);
    expect(threads.get('x')).toBeNull();
    const notFound = withCode('THREAD_NOT_FOUND');
    expect(() => threads.require('x')).toThrow(notFound);
    expect(() => threads.claim('x')).toThrow(notFound);
    expect(() => threads.markDegraded('x')).toThrow(notFound);
    expect(() => threads.signal('x', { id: 's', kind: 'pause', payload: {} })).toThrow(notFound);
  });

  test('one policy is read without the others', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread({ policies: { goal: { only: 'T4' }, input: 'x', none: null } }));
    expect(threads.policyOf('run-1', 'goal')).toEqual({ only: 'T4' });
    expect(threads.policyOf('run-1', 'input')).toBe('x');
    expect(threads.policyOf('run-1', 'none')).toBeNull();
    expect(threads.policyOf('run-1', 'only')).toBeUndefined();
    expect(threads.policyOf('run-2', 'goal')).toBeUndefined();
  });

  test('degraded, policies and fingerprint are recorded', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread());
    threads.markDegraded('run-1');
    threads.updatePolicies('run-1', { gates: { design: 'auto' } });
    threads.setFingerprint('run-1', 'new');
    expect(threads.require('run-1')).toMatchObject({
      degraded: true,
      policies: { gates: { design: 'auto' } },
      graphFingerprint: 'new',
    });
  });
});

describe('leases', () => {
  test('a free run is claimed with the next epoch', ({ db }) => {
    const threads = new ThreadStore(db, { host: aHost({ pid: 7 }) });
    threads.create(aThread());
    const first = threads.claim('run-1');
    expect(first).toEqual({
      kind: 'claimed',
      lease: { threadId: 'run-1', owner: '7:70', epoch: 1 },
      recovered: false,
    });
    threads.release(claimed(first));
    expect(threads.claim('run-1')).toMatchObject({ kind: 'claimed', lease: { epoch: 2 }, recovered: false });
  });

  test('a living holder keeps its lease, also against its own process', ({ db }) => {
    const host = aHost();
    const threads = new ThreadStore(db, { host });
    threads.create(aThread());
    threads.claim('run-1');
    host.clock = 4_000;
    expect(threads.claim('run-1')).toMatchObject({
      kind: 'busy',
      owner: '100:1000',
      epoch: 1,
      expiresInMs: 6_000,
    });
  });

  test('a run is driven by its holder until that has released it, is dead or has fallen silent', ({ db }) => {
    const [host, other] = [aHost({ pid: 1 }), aHost({ pid: 2 })];
    const [there, here] = [new ThreadStore(db, { host }), new ThreadStore(db, { host: other })];
    there.create(aThread());
    expect(here.driverOf('run-1')).toBeNull();
    expect(here.driverOf('unknown')).toBeNull();
    const lease = claimed(there.claim('run-1'));
    expect(here.driverOf('run-1')).toBe(lease.owner);
    other.clock += LEASE_TTL_MS;
    expect(here.driverOf('run-1')).toBeNull();
    other.clock -= LEASE_TTL_MS;
    other.dead.add(1);
    expect(here.driverOf('run-1')).toBeNull();
    other.dead.delete(1);
    there.release(lease);
    expect(here.driverOf('run-1')).toBeNull();
  });

  test('a dead holder of this boot is replaced at once', ({ db }) => {
    const host = aHost({ pid: 1 });
    new ThreadStore(db, { host }).create(aThread());
    new ThreadStore(db, { host }).claim('run-1');
    const other = aHost({ pid: 2 });
    other.dead.add(1);
    expect(new ThreadStore(db, { host: other }).claim('run-1')).toMatchObject({
      kind: 'claimed',
      lease: { owner: '2:20', epoch: 2 },
      recovered: true,
    });
  });

  test('a living holder that stopped renewing is replaced after the lease time, not before', ({ db }) => {
    const host = aHost();
    const threads = new ThreadStore(db, { host });
    threads.create(aThread());
    const lease = claimed(threads.claim('run-1'));
    host.clock = LEASE_TTL_MS - 1;
    expect(threads.claim('run-1').kind).toBe('busy');
    threads.renew(lease);
    host.clock = LEASE_TTL_MS;
    expect(threads.claim('run-1').kind).toBe('busy');
    host.clock = 2 * LEASE_TTL_MS - 1;
    expect(threads.claim('run-1')).toMatchObject({ kind: 'claimed', recovered: true, lease: { epoch: 2 } });
  });

  test('a holder of an earlier boot whose name and pid are of this one again is replaced at once', ({
    db,
  }) => {
    const host = aHost({ pid: 1 });
    host.clock = 10 * 24 * 60 * 60 * 1000;
    const threads = new ThreadStore(db, { host });
    threads.create(aThread());
    threads.claim('run-1');
    host.clock = 60_000; // the clock of a boot begins at its start
    expect(threads.driverOf('run-1')).toBeNull();
    expect(threads.claim('run-1')).toMatchObject({ kind: 'claimed', recovered: true, lease: { epoch: 2 } });
  });

  test('a holder on another boot is replaced only when the claimer saw it unchanged', ({ db }) => {
    const there = new ThreadStore(db, { host: aHost({ bootId: 'there' }) });
    const here = new ThreadStore(db, { host: aHost({ bootId: 'here', pid: 2 }) });
    there.create(aThread());
    const lease = claimed(there.claim('run-1'));

    const seen = here.claim('run-1');
    if (seen.kind !== 'busy') throw new Error('Expected the run to be busy.');
    expect(seen.expiresInMs).toBeNull();
    expect(here.claim('run-1').kind).toBe('busy');

    expect(here.claim('run-1', { unchangedFor: { ...seen.snapshot, epoch: 0 } }).kind).toBe('busy');
    expect(here.claim('run-1', { unchangedFor: { ...seen.snapshot, expiresMono: 1 } }).kind).toBe('busy');
    expect(here.claim('run-1', { unchangedFor: seen.snapshot })).toMatchObject({
      kind: 'claimed',
      recovered: true,
      lease: { epoch: lease.epoch + 1 },
    });
  });

  test('a renewal on another boot makes the snapshot worthless', ({ db }) => {
    const host = aHost({ bootId: 'there' });
    const there = new ThreadStore(db, { host });
    const here = new ThreadStore(db, { host: aHost({ bootId: 'here' }) });
    there.create(aThread());
    const lease = claimed(there.claim('run-1'));
    const seen = here.claim('run-1');
    if (seen.kind !== 'busy') throw new Error('Expected the run to be busy.');
    host.clock = 1;
    there.renew(lease);
    expect(here.claim('run-1', { unchangedFor: seen.snapshot }).kind).toBe('busy');
  });

  test('a replaced holder can neither renew, settle nor begin, and its release changes nothing', ({ db }) => {
    const host = aHost();
    const threads = new ThreadStore(db, { host });
    threads.create(aThread());
    const old = claimed(threads.claim('run-1'));
    host.clock = LEASE_TTL_MS;
    const current = claimed(threads.claim('run-1'));
    const before = threads.require('run-1');

    const lost = withCode('LEASE_LOST');
    expect(() => threads.renew(old)).toThrow(lost);
    expect(() => threads.settle(old, 'failed', { seenWakeSeq: 0 })).toThrow(lost);
    expect(() => threads.begin(old)).toThrow(lost);
    expect(() => threads.resetRecoveries(old)).toThrow(lost);
    expect(() => threads.fence(old).assertInTx()).toThrow(lost);
    threads.release(old);

    expect(threads.require('run-1')).toEqual(before);
    expect(() => threads.fence(current).assertInTx()).not.toThrow();
  });

  test('a released lease cannot be renewed', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread());
    const lease = claimed(threads.claim('run-1'));
    threads.release(lease);
    expect(() => threads.renew(lease)).toThrow(withCode('LEASE_LOST'));
  });

  test('recoveries that were reset in a transaction that is undone are reset again', ({ db }) => {
    let now = 0;
    const threads = new ThreadStore(db, { now: () => now });
    threads.create(aThread());
    const lease = claimed(threads.claim('run-1'));
    threads.begin(lease, { recovered: true });
    const undone = (): never => {
      threads.resetRecoveries(lease);
      throw new RangeError('undone');
    };
    expect(() => immediateTransaction(db, undone)).toThrow('undone');
    expect(threads.require('run-1').recoveries).toBe(1);
    threads.resetRecoveries(lease);
    expect(threads.require('run-1').recoveries).toBe(0);
    threads.release(lease);
    now = 86_400_000; // long enough for another one to count
    const next = claimed(threads.claim('run-1'));
    expect(threads.begin(next, { recovered: true })).toMatchObject({ recoveries: 1 });
    threads.resetRecoveries(next);
    threads.resetRecoveries(next);
    expect(threads.require('run-1').recoveries).toBe(0);
  });

  test('a policy is read anew once it is another, of another run, or damaged before it was known', ({
    db,
  }) => {
    const threads = new ThreadStore(db);
    const stored = threads.create(aThread({ policies: { goal: { only: 'T1' } } })).thread;
    threads.create(aThread({ threadId: 'run-2', policies: { goal: { only: 'T2' } } }));
    const goals = (): readonly unknown[] =>
      ['run-1', 'run-2', 'run-1'].map((id) => threads.policyOf(id, 'goal'));
    expect(goals()).toEqual([{ only: 'T1' }, { only: 'T2' }, { only: 'T1' }]);
    const undone = (): never => {
      threads.updatePolicies('run-1', { goal: { only: 'T9' } });
      expect(threads.policyOf('run-1', 'goal')).toEqual({ only: 'T9' });
      throw new RangeError('undone');
    };
    expect(() => immediateTransaction(db, undone)).toThrow('undone');
    expect(threads.policyOf('run-1', 'goal')).toEqual(stored.policies['goal']);
    threads.updatePolicies('run-1', {});
    expect(threads.policyOf('run-1', 'goal')).toBeUndefined();
    db.exec(`UPDATE threads SET policies_json = '{"goal":{"only":"T3"}}' WHERE thread_id = 'run-2'`);
    expect(() => threads.policyOf('run-2', 'goal')).toThrow(withCode('STATE_CORRUPT'));
  });

  test('beginning counts recoveries until progress', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread());
    const lease = claimed(threads.claim('run-1'));
    expect(threads.begin(lease, { recovered: true })).toMatchObject({ status: 'running', recoveries: 1 });
    expect(threads.begin(lease)).toMatchObject({ recoveries: 1 });
    threads.resetRecoveries(lease);
    expect(threads.require('run-1').recoveries).toBe(0);
  });
});

describe('recoveries of a run', () => {
  const MINUTE = 60_000;

  /** A run and its next driver, each time; the one before has gone away. */
  function aRun(db: Database) {
    let now = 0;
    const threads = new ThreadStore(db, { now: () => now });
    threads.create(aThread());
    let lease: Lease | null = null;
    const begin = (recovered: boolean): number => {
      if (lease !== null) threads.release(lease);
      lease = claimed(threads.claim('run-1'));
      return threads.begin(lease, { recovered }).recoveries;
    };
    const held = (): Lease => lease as Lease;
    const step = (ms: number): void => {
      now += ms;
    };
    return { threads, begin, held, step, recoveries: () => threads.require('run-1').recoveries };
  }

  test('count once in ten minutes, but always where the driver that is gone had worked', ({ db }) => {
    const { threads, begin, held, step } = aRun(db);
    expect([begin(false), begin(true), begin(true)]).toEqual([0, 1, 1]);
    threads.markWorked(held());
    expect([begin(true), begin(true)]).toEqual([2, 2]);
    step(10 * MINUTE - 1);
    expect(begin(true)).toBe(2);
    step(1);
    expect(begin(true)).toBe(3);
    step(-10 * MINUTE); // a clock set back counts
    expect(begin(true)).toBe(4);
  });

  test('begin anew for one that is brought back, which only one that was given up is', ({ db }) => {
    const { threads, begin, held, recoveries } = aRun(db);
    begin(true);
    expect(threads.revive(held(), 'again')).toBe(false);
    expect(threads.require('run-1')).toMatchObject({ status: 'running', reason: null, recoveries: 1 });
    threads.settle(held(), 'dead_letter', { seenWakeSeq: 0 });
    const lease = claimed(threads.claim('run-1'));
    expect(threads.revive(lease, 'again')).toBe(true);
    expect(threads.require('run-1')).toMatchObject({ status: 'paused', reason: 'again', endedAt: null });
    expect(recoveries()).toBe(0);
  });

  test('begin anew for one that was set back', ({ db }) => {
    const { threads, begin, held, recoveries } = aRun(db);
    begin(true);
    threads.reopen(held(), 'paused', 'rewound');
    expect(recoveries()).toBe(0);
  });
});

describe('signals', () => {
  test('each signal raises the wake sequence once, however often it is sent', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread());
    expect(threads.signal('run-1', { id: 'a', kind: 'pause', payload: { why: 'x' } })).toBe(1);
    expect(threads.signal('run-1', { id: 'b', kind: 'cancel', payload: null })).toBe(2);
    expect(threads.signal('run-1', { id: 'a', kind: 'resume', payload: 'other' })).toBe(1);
    expect(threads.require('run-1').wakeSeq).toBe(2);
    expect(threads.signals.pending('run-1')).toMatchObject([
      { id: 'a', seq: 1, kind: 'pause', payload: { why: 'x' }, consumedAt: null },
      { id: 'b', seq: 2, kind: 'cancel', payload: null },
    ]);
  });

  test('a consumed signal is kept but no longer pending', ({ db }) => {
    const threads = new ThreadStore(db, { now: () => 5 });
    threads.create(aThread());
    threads.signal('run-1', { id: 'a', kind: 'pause', payload: {} });
    threads.signals.consume('a');
    expect(threads.signals.pending('run-1')).toEqual([]);
    expect(db.prepare('SELECT consumed_at FROM signals').pluck().get()).toBe(5);
  });

  test('an id that belongs to another run is refused', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread());
    threads.create(aThread({ threadId: 'run-2' }));
    threads.signal('run-1', { id: 'a', kind: 'pause', payload: {} });
    expect(() => threads.signal('run-2', { id: 'a', kind: 'pause', payload: {} })).toThrow(RangeError);
    expect(threads.require('run-2').wakeSeq).toBe(0);
  });

  test('a payload that is no plain JSON leaves no wake behind', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread());
    expect(() => threads.signal('run-1', { id: 'a', kind: 'pause', payload: new Map() })).toThrow(
      withCode('VALUE_NOT_STORABLE'),
    );
    expect(threads.require('run-1').wakeSeq).toBe(0);
  });
});

describe('settling', () => {
  test('records where the run stands and gives the lease back', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread());
    const lease = claimed(threads.claim('run-1'));
    threads.signal('run-1', { id: 'a', kind: 'decision', payload: {} });
    expect(threads.settle(lease, 'waiting', { reason: '1 open gate', seenWakeSeq: 1 })).toBe('settled');
    expect(threads.require('run-1')).toMatchObject({
      status: 'waiting',
      reason: '1 open gate',
      handledSeq: 1,
      leaseOwner: null,
    });
    expect(threads.claim('run-1').kind).toBe('claimed');
  });

  test('a wake that came in between means looking again, and nothing changes', ({ db }) => {
    const threads = new ThreadStore(db);
    threads.create(aThread());
    const lease = claimed(threads.claim('run-1'));
    threads.begin(lease);
    threads.signal('run-1', { id: 'a', kind: 'decision', payload: {} });
    const before = threads.require('run-1');
    expect(threads.settle(lease, 'waiting', { seenWakeSeq: 0 })).toBe('again');
    expect(threads.require('run-1')).toEqual(before);
  });

  test('no order of wakes, looks and settlements loses a wake', ({ db }) => {
    const threads = new ThreadStore(db);
    let run = 0;
    const action = fc.constantFrom('wake', 'look', 'settle' as const);
    fc.assert(
      fc.property(fc.array(action, { maxLength: 12 }), (actions) => {
        const threadId = `run-${run++}`;
        threads.create(aThread({ threadId }));
        let lease = claimed(threads.claim(threadId));
        let seen = 0;
        let wakes = 0;
        for (const next of actions) {
          if (next === 'wake')
            threads.signal(threadId, { id: `${threadId}-${wakes++}`, kind: 'timeout', payload: {} });
          else if (next === 'look') seen = threads.require(threadId).wakeSeq;
          else {
            const outcome = threads.settle(lease, 'waiting', { seenWakeSeq: seen });
            expect(outcome).toBe(wakes > seen ? 'again' : 'settled');
            if (outcome === 'settled') lease = claimed(threads.claim(threadId));
          }
        }
        expect(threads.require(threadId).handledSeq).toBeLessThanOrEqual(seen);
      }),
      { numRuns: 50 },
    );
  });
});

describe('several processes', () => {
  test('of two that claim at once exactly one wins; when it is killed the other takes over at once', async ({
    dbPath,
    db,
  }) => {
    new ThreadStore(db).create(aThread());
    const children = [new Child(CLAIM, dbPath, 'run-1'), new Child(CLAIM, dbPath, 'run-1')] as const;
    onTestFinished(async () => {
      await Promise.all(children.map((child) => child.kill()));
    });
    await Promise.all(children.map((child) => child.read()));

    for (const child of children) child.send('claim');
    const results = await Promise.all(children.map((child) => child.read<ClaimResult>()));
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['busy', 'claimed']);

    const winner = results.findIndex(({ kind }) => kind === 'claimed');
    await children[winner]?.kill();
    const loser = children[1 - winner];
    loser?.send('claim');
    expect(await loser?.read<ClaimResult>()).toMatchObject({
      kind: 'claimed',
      recovered: true,
      lease: { epoch: 2, owner: expect.stringMatching(new RegExp(`^${loser?.process.pid}:`)) },
    });
  });

  test('two connections of one process do not share a lease', ({ dbPath, db }) => {
    const other = createDatabase({ dbPath });
    onTestFinished(() => {
      other.close();
    });
    new ThreadStore(db).create(aThread());
    expect(new ThreadStore(db).claim('run-1').kind).toBe('claimed');
    expect(new ThreadStore(other).claim('run-1').kind).toBe('busy');
  });
});
