import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aThread } from '../../src/state/__tests__/aThread.ts';
import type { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import type { ClaimResult, Lease } from '../../src/state/threads/threadRecords.ts';

/** What the driver asks of a store of runs. */
export type ThreadStorePort = Pick<
  ThreadStore,
  | 'create'
  | 'get'
  | 'require'
  | 'list'
  | 'claim'
  | 'renew'
  | 'release'
  | 'begin'
  | 'settle'
  | 'markWorked'
  | 'resetRecoveries'
  | 'fence'
  | 'signal'
> & { readonly signals: Pick<ThreadStore['signals'], 'pending' | 'consume'> };

/** One store, seen by the drivers of several processes of one machine. */
export interface StoreUnderTest {
  /** The store as a process sees it; the same name is the same process. */
  as(process: string): ThreadStorePort;
  /** The process is gone, and can be seen to be. */
  end(process: string): void;
  /** Milliseconds a lease lasts without renewal. */
  readonly leaseTtlMs: number;
  /** Lets time pass for every process. */
  pass(ms: number): void;
  close(): void;
}

function leaseIn(result: ClaimResult): Lease {
  if (result.kind === 'busy') throw new Error(`Expected a lease, the run is busy: ${result.owner}.`);
  return result.lease;
}

const lost = expect.objectContaining({ code: 'LEASE_LOST' });
const RUN = 'run-1';

/** Every write of a lease's holder; each must be refused once the run is another's. */
const WRITES_OF_A_HOLDER: Readonly<Record<string, (store: ThreadStorePort, lease: Lease) => unknown>> = {
  renew: (store, lease) => store.renew(lease),
  begin: (store, lease) => store.begin(lease),
  settle: (store, lease) => store.settle(lease, 'completed', { seenWakeSeq: 99 }),
  markWorked: (store, lease) => store.markWorked(lease),
  resetRecoveries: (store, lease) => store.resetRecoveries(lease),
  'a fenced write': (store, lease) => store.fence(lease).assertInTx(),
};

/**
 * The rules a store of runs must keep for {@link drive} to be safe: one driver, epochs that only grow, no wake lost.
 *
 * @param makeStore - A fresh, empty store.
 */
export function threadStoreConformance(name: string, makeStore: () => StoreUnderTest): void {
  const withStore = (work: (under: StoreUnderTest) => void) => (): void => {
    const under = makeStore();
    try {
      work(under);
    } finally {
      under.close();
    }
  };
  const withRun = (work: (under: StoreUnderTest) => void) =>
    withStore((under) => {
      under.as('a').create(aThread());
      work(under);
    });

  describe(`${name}, a run`, () => creating(withStore, withRun));
  describe(`${name}, a lease`, () => leasing(withRun));
  describe(`${name}, a replaced holder`, () => fencing(withRun));
  describe(`${name}, a signal`, () => signalling(withRun));
  describe(`${name}, settling`, () => settling(withRun));
  describe(`${name}, whatever its drivers do`, () => modelled(withRun));
}

type With = (work: (under: StoreUnderTest) => void) => () => void;

function creating(withStore: With, withRun: With): void {
  test(
    'is created once: the second time it is returned as it is',
    withStore((under) => {
      expect(under.as('a').create(aThread())).toMatchObject({
        created: true,
        thread: {
          status: 'created',
          wakeSeq: 0,
          handledSeq: 0,
          leaseEpoch: 0,
          recoveries: 0,
          leaseOwner: null,
        },
      });
      expect(under.as('b').create(aThread({ projectId: 'other' }))).toMatchObject({
        created: false,
        thread: { projectId: RUN },
      });
      expect(under.as('b').list()).toHaveLength(1);
    }),
  );

  test(
    'that nobody created is null to get and refused by name elsewhere, and leaves nothing behind',
    withStore((under) => {
      const store = under.as('a');
      const unknown = expect.objectContaining({ code: 'THREAD_NOT_FOUND' });
      expect(store.get(RUN)).toBeNull();
      expect(() => store.require(RUN)).toThrow(unknown);
      expect(() => store.claim(RUN)).toThrow(unknown);
      expect(() => store.signal(RUN, { id: 's', kind: 'pause', payload: {} })).toThrow(unknown);
      expect(store.list()).toEqual([]);
    }),
  );

  test(
    'has a folder of its own while it lives',
    withRun((under) => {
      const store = under.as('a');
      store.create(aThread({ threadId: 'x', workspace: '/w' }));
      const busy = expect.objectContaining({ code: 'WORKSPACE_BUSY' });
      expect(() => store.create(aThread({ threadId: 'y', workspace: '/w' }))).toThrow(busy);
      store.settle(leaseIn(store.claim('x')), 'completed', { seenWakeSeq: 0 });
      expect(store.create(aThread({ threadId: 'y', workspace: '/w' })).created).toBe(true);
    }),
  );
}

function leasing(withRun: With): void {
  test(
    'is held by one, also against another driver of the same process',
    withRun((under) => {
      const { epoch } = leaseIn(under.as('a').claim(RUN));
      expect(epoch).toBe(1);
      for (const process of ['a', 'b']) {
        expect(under.as(process).claim(RUN)).toMatchObject({ kind: 'busy', epoch: 1 });
      }
    }),
  );

  test(
    'that was given back is the next one’s, with the next epoch and nothing to recover',
    withRun((under) => {
      under.as('a').release(leaseIn(under.as('a').claim(RUN)));
      expect(under.as('b').claim(RUN)).toMatchObject({
        kind: 'claimed',
        recovered: false,
        lease: { epoch: 2 },
      });
    }),
  );

  test(
    'of a process that is gone is taken over at once',
    withRun((under) => {
      under.as('a').claim(RUN);
      under.end('a');
      expect(under.as('b').claim(RUN)).toMatchObject({
        kind: 'claimed',
        recovered: true,
        lease: { epoch: 2 },
      });
    }),
  );

  test(
    'of a living process is taken over when it was not renewed for its whole time, and not before',
    withRun((under) => {
      const lease = leaseIn(under.as('a').claim(RUN));
      under.pass(under.leaseTtlMs - 1);
      expect(under.as('b').claim(RUN).kind).toBe('busy');
      under.as('a').renew(lease);
      under.pass(under.leaseTtlMs - 1);
      expect(under.as('b').claim(RUN).kind).toBe('busy');
      under.pass(1);
      expect(under.as('b').claim(RUN)).toMatchObject({ kind: 'claimed', recovered: true });
    }),
  );

  test(
    'that has expired still holds until somebody claims the run: a laptop may sleep',
    withRun((under) => {
      const lease = leaseIn(under.as('a').claim(RUN));
      under.pass(10 * under.leaseTtlMs);
      expect(() => under.as('a').fence(lease).assertInTx()).not.toThrow();
      under.as('a').renew(lease);
      expect(under.as('b').claim(RUN).kind).toBe('busy');
    }),
  );

  test(
    'counts recoveries until there is progress',
    withRun((under) => {
      const store = under.as('b');
      let lease = leaseIn(under.as('a').claim(RUN));
      under.as('a').markWorked(lease);
      under.end('a');
      for (let count = 1; count <= 3; count += 1) {
        const claim = store.claim(RUN);
        lease = leaseIn(claim);
        const recovered = claim.kind === 'claimed' && claim.recovered;
        expect(store.begin(lease, { recovered })).toMatchObject({ recoveries: count, status: 'running' });
        store.markWorked(lease);
        under.pass(under.leaseTtlMs);
      }
      store.resetRecoveries(lease);
      expect(store.require(RUN).recoveries).toBe(0);
    }),
  );
}

function fencing(withRun: With): void {
  for (const [what, write] of Object.entries(WRITES_OF_A_HOLDER)) {
    test(
      `cannot ${what}, and changes nothing by trying`,
      withRun((under) => {
        const old = leaseIn(under.as('a').claim(RUN));
        under.pass(under.leaseTtlMs);
        const current = leaseIn(under.as('b').claim(RUN));
        const before = under.as('b').require(RUN);
        expect(() => write(under.as('a'), old)).toThrow(lost);
        expect(under.as('b').require(RUN)).toEqual(before);
        expect(() => write(under.as('b'), current)).not.toThrow();
      }),
    );
  }

  test(
    'cannot give back what is not its own any more',
    withRun((under) => {
      const old = leaseIn(under.as('a').claim(RUN));
      under.pass(under.leaseTtlMs);
      const current = leaseIn(under.as('b').claim(RUN));
      under.as('a').release(old);
      expect(() => under.as('b').renew(current)).not.toThrow();
      expect(under.as('c').claim(RUN).kind).toBe('busy');
    }),
  );
}

function signalling(withRun: With): void {
  test(
    'raises the wake sequence once, however often it is sent, and from anywhere',
    withRun((under) => {
      const pause = { id: 'p', kind: 'pause', payload: null } as const;
      expect(under.as('a').signal(RUN, pause)).toBe(1);
      expect(under.as('b').signal(RUN, { id: 'd', kind: 'decision', payload: { n: 1 } })).toBe(2);
      expect(under.as('c').signal(RUN, pause)).toBe(1);
      expect(under.as('b').require(RUN).wakeSeq).toBe(2);
      expect(under.as('b').signals.pending(RUN)).toMatchObject([
        { id: 'p', seq: 1, kind: 'pause' },
        { id: 'd', seq: 2, kind: 'decision', payload: { n: 1 } },
      ]);
    }),
  );

  test(
    'needs no lease, is taken while the run is driven, and stays until it is consumed',
    withRun((under) => {
      under.as('a').claim(RUN);
      under.as('b').signal(RUN, { id: 'c', kind: 'cancel', payload: null });
      under.as('b').signals.consume('unknown');
      expect(under.as('a').signals.pending(RUN)).toHaveLength(1);
      under.as('a').signals.consume('c');
      expect(under.as('b').signals.pending(RUN)).toEqual([]);
      expect(under.as('b').signal(RUN, { id: 'c', kind: 'cancel', payload: null })).toBe(1);
      expect(under.as('b').signals.pending(RUN)).toEqual([]);
    }),
  );
}

function settling(withRun: With): void {
  test(
    'records where the run stands, what was handled, and gives the lease back',
    withRun((under) => {
      const lease = leaseIn(under.as('a').claim(RUN));
      under.as('b').signal(RUN, { id: 's', kind: 'timeout', payload: null });
      expect(under.as('a').settle(lease, 'waiting', { reason: 'a gate', seenWakeSeq: 1 })).toBe('settled');
      expect(under.as('b').require(RUN)).toMatchObject({
        status: 'waiting',
        reason: 'a gate',
        handledSeq: 1,
        leaseOwner: null,
      });
      expect(under.as('b').claim(RUN)).toMatchObject({ kind: 'claimed', recovered: false });
    }),
  );

  test(
    'against an older wake changes nothing and says to look again',
    withRun((under) => {
      const lease = leaseIn(under.as('a').claim(RUN));
      const { wakeSeq } = under.as('a').begin(lease);
      under.as('b').signal(RUN, { id: 's', kind: 'decision', payload: null });
      const before = under.as('b').require(RUN);
      expect(under.as('a').settle(lease, 'completed', { seenWakeSeq: wakeSeq })).toBe('again');
      expect(under.as('b').require(RUN)).toEqual(before);
      expect(under.as('a').settle(lease, 'completed', { seenWakeSeq: 1 })).toBe('settled');
    }),
  );
}

const PROCESSES = ['a', 'b', 'c'] as const;

const anyAction = fc.record({
  by: fc.constantFrom(...PROCESSES),
  what: fc.constantFrom('claim', 'look', 'renew', 'release', 'settle', 'signal', 'expire' as const),
});

type Action = typeof anyAction extends fc.Arbitrary<infer T> ? T : never;

/** What a store should hold after a sequence of actions, kept apart from it. */
class Model {
  holder: string | null = null;
  expired = false;
  epoch = 0;
  wakes = 0;
  handled = 0;
  readonly leases = new Map<string, Lease>();
  readonly seen = new Map<string, number>();

  holds(process: string): boolean {
    return this.holder === process && this.leases.get(process)?.epoch === this.epoch;
  }

  free(): void {
    this.holder = null;
    this.expired = false;
  }
}

const STEPS: Readonly<
  Record<Action['what'], (under: StoreUnderTest, model: Model, process: string) => void>
> = {
  claim(under, model, process) {
    const isFree = model.holder === null || model.expired;
    const claim = under.as(process).claim(RUN);
    expect(claim.kind).toBe(isFree ? 'claimed' : 'busy');
    if (claim.kind === 'busy') return;
    expect(claim.recovered).toBe(model.holder !== null);
    model.epoch += 1;
    expect(claim.lease.epoch).toBe(model.epoch);
    model.holder = process;
    model.expired = false;
    model.leases.set(process, claim.lease);
  },
  look(under, model, process) {
    model.seen.set(process, under.as(process).require(RUN).wakeSeq);
  },
  renew(under, model, process) {
    const lease = model.leases.get(process);
    if (lease === undefined) return;
    if (!model.holds(process)) expect(() => under.as(process).renew(lease)).toThrow(lost);
    else {
      under.as(process).renew(lease);
      model.expired = false;
    }
  },
  release(under, model, process) {
    const lease = model.leases.get(process);
    if (lease === undefined) return;
    under.as(process).release(lease);
    if (model.holds(process)) model.free();
  },
  settle(under, model, process) {
    const lease = model.leases.get(process);
    if (lease === undefined || lease.epoch !== model.epoch) return;
    if (model.holder !== process) return; // given back: what a driver does not do
    const seenWakeSeq = model.seen.get(process) ?? 0;
    const outcome = under.as(process).settle(lease, 'waiting', { seenWakeSeq });
    expect(outcome).toBe(model.wakes > seenWakeSeq ? 'again' : 'settled');
    if (outcome === 'again') return;
    model.handled = seenWakeSeq;
    model.free();
  },
  signal(under, model, process) {
    model.wakes += 1;
    expect(under.as(process).signal(RUN, { id: `s-${model.wakes}`, kind: 'timeout', payload: null })).toBe(
      model.wakes,
    );
  },
  expire(under, model) {
    under.pass(under.leaseTtlMs);
    if (model.holder !== null) model.expired = true;
  },
};

function modelled(withRun: With): void {
  test('there is one holder, its epoch is the highest, and a wake nobody has seen is not settled away', () => {
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 25 }), (actions) => {
        withRun((under) => {
          const model = new Model();
          for (const { by, what } of actions) {
            STEPS[what](under, model, by);
            expect(under.as(by).require(RUN)).toMatchObject({
              leaseEpoch: model.epoch,
              wakeSeq: model.wakes,
              handledSeq: model.handled,
            });
            expect(under.as(by).require(RUN).leaseOwner === null).toBe(model.holder === null);
          }
        })();
      }),
      { numRuns: 60 },
    );
  });
}
