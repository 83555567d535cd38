import assert from 'node:assert/strict';
import type { StatusUpdate } from '../../../core/src/state/RunStore.ts';
import { claimed, isLost, takenOver } from './driversCases.ts';
import type { RunStoreCase } from './RunStoreUnderTest.ts';
import { RUN, started } from './verbs.ts';

const pausedSettlement: StatusUpdate = {
  status: 'paused',
  reason: 'asked to',
  seenWakeSeq: 0,
  facts: [started],
};
const aPause = { id: 'asked', kind: 'pause', payload: null } as const;

const LEASES: readonly RunStoreCase[] = [
  {
    name: 'a run has one driver: claimed, it is busy for everybody else until it is released',
    check(made) {
      const lease = claimed(made);
      assert.equal(made.elsewhere.claim(RUN).kind, 'busy');
      made.runs.release(lease);
      const next = made.elsewhere.claim(RUN);
      assert.equal(next.kind, 'claimed');
      if (next.kind === 'claimed') assert.ok(next.lease.epoch > lease.epoch);
    },
  },
  {
    name: 'a lease that was given to another is renewed by nobody, and its release does nothing',
    check(made) {
      const lease = claimed(made);
      made.runs.renew(lease);
      takenOver(made, lease);
      assert.throws(() => made.runs.renew(lease), isLost);
      made.runs.release(lease);
      assert.equal(made.runs.claim(RUN).kind, 'busy');
    },
  },
  {
    name: 'a run whose driver is known to be gone is taken over at once, and that driver is refused',
    check(made) {
      const lease = claimed(made);
      assert.equal(made.elsewhere.evict(RUN), true);
      assert.throws(() => made.runs.renew(lease), isLost);
      const next = made.elsewhere.claim(RUN);
      assert.deepEqual([next.kind, next.kind === 'claimed' && next.recovered], ['claimed', true]);
      assert.throws(() => made.runs.note(lease, [started]), isLost);
      if (next.kind === 'claimed') made.elsewhere.release(next.lease);
      assert.equal(made.elsewhere.evict(RUN), false);
    },
  },
  {
    name: 'a lease that was cut off leaves the run free, and each write under it is refused',
    check(made) {
      const lease = claimed(made);
      made.runs.cutOff(lease);
      assert.throws(() => made.runs.note(lease, [started]), isLost);
      assert.throws(() => made.runs.renew(lease), isLost);
      made.runs.release(lease);
      const next = made.elsewhere.claim(RUN);
      assert.deepEqual([next.kind, next.kind === 'claimed' && next.recovered], ['claimed', false]);
    },
  },
  {
    name: 'a run is gone on with by who has its lease, and not by who knows its number',
    check(made) {
      const lease = claimed(made);
      const call = { threadId: RUN, frame: RUN, epoch: lease.epoch, lease };
      made.runs.assertDriven(call);
      made.runs.assertDriven({ ...call, frame: `${RUN}/child` });
      made.runs.assertDriven({ ...call, frame: 'user-7' }); // of a graph inside
      made.runs.assertDriven({ threadId: 'plain', frame: 'plain', epoch: null, lease: undefined });
      const strangers = [
        { ...call, lease: { ...lease } },
        { ...call, epoch: null, lease: undefined },
        { ...call, epoch: lease.epoch + 1 },
        { ...call, threadId: 'run-2' },
      ];
      for (const stranger of strangers) assert.throws(() => made.runs.assertDriven(stranger), isLost);
      made.runs.release(lease);
      assert.throws(() => made.runs.assertDriven(call), isLost);
    },
  },
  {
    name: 'without a lease nothing is fenced: plain use of a graph writes as it likes',
    check(made) {
      claimed(made);
      made.runs.note({ threadId: RUN, epoch: null }, [started]);
      assert.deepEqual(made.read(RUN).events, ['NODE_STARTED']);
    },
  },
];

const STANDING: readonly RunStoreCase[] = [
  {
    name: 'a driver that takes over tells so, and is counted',
    check(made) {
      const lease = claimed(made);
      const thread = made.runs.begin(lease, { recovered: true, allowsRefused: false });
      assert.equal(thread.recoveries, 1);
      assert.deepEqual([made.read(RUN).events, made.told], [['RUN_RECOVERED'], ['RUN_RECOVERED']]);
      assert.equal(made.read(RUN).status, 'running');
    },
  },
  {
    name: 'settle gives the run back, and others find where it stands',
    check(made) {
      const lease = claimed(made);
      const beside: string[] = [];
      const settlement = { ...pausedSettlement, inSameTransaction: () => void beside.push('called') };
      assert.equal(made.runs.settle(lease, settlement), 'settled');
      assert.deepEqual([made.read(RUN).status, made.told, beside], ['paused', ['NODE_STARTED'], ['called']]);
      assert.equal(made.elsewhere.claim(RUN).kind, 'claimed');
    },
  },
  {
    name: 'a signal that came in after what the driver has read is no wake lost: settle writes nothing',
    check(made) {
      const lease = claimed(made);
      const seq = made.elsewhere.signal(RUN, aPause);
      const before = made.read(RUN);
      const beside: string[] = [];
      const settlement = { ...pausedSettlement, inSameTransaction: () => void beside.push('called') };
      assert.equal(made.runs.settle(lease, settlement), 'again');
      assert.deepEqual([made.read(RUN), made.told, beside], [before, [], []]);
      assert.equal(made.runs.settle(lease, { ...pausedSettlement, seenWakeSeq: seq }), 'settled');
    },
  },
  {
    name: 'a run that is cancelled asks no more',
    check(made) {
      const lease = claimed(made);
      const question = {
        ...{ threadId: RUN, interruptId: 'i-1', questionKey: 'interrupt/i-1', kind: 'interrupt' as const },
        ...{ taskId: RUN, artifactHash: 'a'.repeat(64), question: {}, checkpointId: 'c-1' },
      };
      made.runs.ask(lease, [{ question, facts: () => [] }]);
      made.runs.settle(lease, { ...pausedSettlement, status: 'cancelled', withdrawsQuestions: true });
      assert.deepEqual(made.read(RUN).questions, ['interrupt cancelled']);
    },
  },
];

const TOLD: readonly RunStoreCase[] = [
  {
    name: 'a signal that was recorded before is the same signal',
    check(made) {
      claimed(made);
      const first = made.runs.signal(RUN, aPause, [started]);
      assert.equal(made.elsewhere.signal(RUN, aPause), first);
      assert.ok(made.elsewhere.signal(RUN, { ...aPause, id: 'other' }) > first);
      assert.deepEqual([made.read(RUN).requests, made.told], [['pause', 'pause'], ['NODE_STARTED']]);
    },
  },
  {
    name: 'what was asked for is asked for until the driver has done it',
    check(made) {
      const lease = claimed(made);
      made.elsewhere.signal(RUN, aPause);
      made.elsewhere.signal(RUN, { id: 'end', kind: 'cancel', payload: null });
      made.runs.consume(lease, 'pause');
      made.runs.consume(lease, 'pause');
      assert.deepEqual(made.read(RUN).requests, ['cancel']);
    },
  },
  {
    name: 'a goal is read by everybody until it is taken away',
    check(made) {
      const lease = claimed(made);
      assert.equal(made.runs.policyOf(RUN, 'goal'), undefined);
      made.runs.goal(lease, { epic: 'one' }, []);
      assert.deepEqual(made.elsewhere.policyOf(RUN, 'goal'), { epic: 'one' });
      made.runs.goal(lease, null, []);
      assert.equal(made.elsewhere.policyOf(RUN, 'goal'), undefined);
    },
  },
];

/** A driver relies on these, beside {@link VISIT_CASES}. */
export const RUN_CASES: readonly RunStoreCase[] = [...LEASES, ...STANDING, ...TOLD];
