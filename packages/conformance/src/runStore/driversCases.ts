import assert from 'node:assert/strict';
import { isDevsError } from '../../../core/src/errors/DevsError.ts';
import type { NewEvent } from '../../../core/src/events/events.ts';
import type { Lease } from '../../../core/src/state/threads/threadRecords.ts';
import type { RunOnRecord, RunStoreCase, RunStoreUnderTest } from './RunStoreUnderTest.ts';
import { DRIVERS_VERBS, type DriversVerb, QUIET_VERBS, RUN, started, type VerbCall } from './verbs.ts';

/** A fact that a row cannot hold: writing it fails half way. */
const unwritableFact = { ...started, payload: { node: 'work', attempt: 1n } } as unknown as NewEvent;

const left = new Error('left half way');

/** Claims the run, as its driver does. */
export function claimed({ admit, runs }: RunStoreUnderTest): Lease {
  admit(RUN);
  const claim = runs.claim(RUN);
  assert.equal(claim.kind, 'claimed');
  return (claim as { readonly lease: Lease }).lease;
}

export const isLost = (error: unknown): boolean => isDevsError(error, 'LEASE_LOST');

/** Gives the run to another driver, which begins where the first one stands. */
export function takenOver({ runs, elsewhere }: RunStoreUnderTest, lease: Lease): void {
  runs.release(lease);
  assert.equal(elsewhere.claim(RUN).kind, 'claimed');
}

function prepareCall(
  made: RunStoreUnderTest,
  verb: DriversVerb,
  facts: readonly NewEvent[] = [started],
): VerbCall {
  const lease = claimed(made);
  const called = { runs: made.runs, at: lease, lease, facts };
  verb.before?.(called);
  return called;
}

/** The effect of `work`: the record before and after, and the events that listeners got. */
function changesOf(made: RunStoreUnderTest, work: () => unknown): { readonly before: RunOnRecord } {
  const before = made.read(RUN);
  const told = made.told.length;
  work();
  assert.deepEqual(made.read(RUN), before);
  assert.deepEqual(made.told.slice(told), []);
  return { before };
}

function onRecord(verb: DriversVerb): RunStoreCase {
  return {
    name: `${verb.name} is on record as it returns, and told then`,
    check(made) {
      const called = prepareCall(made, verb);
      const before = made.read(RUN);
      verb.call(called);
      const after = made.read(RUN);
      assert.deepEqual(after.events, [...before.events, 'NODE_STARTED']);
      assert.deepEqual(made.told.slice(-1), ['NODE_STARTED']);
    },
  };
}

function halfWay(verb: DriversVerb): RunStoreCase {
  return {
    name: `${verb.name} that fails half way has done nothing and told nothing`,
    check(made) {
      const called = prepareCall(made, verb, [started, unwritableFact]);
      changesOf(made, () => assert.throws(() => verb.call(called)));
      verb.call({ ...called, facts: [] });
    },
  };
}

function fencedCase(verb: DriversVerb): RunStoreCase {
  return {
    name: `${verb.name} is refused once there is a newer driver, and then nothing is written or told`,
    check(made) {
      const called = prepareCall(made, verb);
      takenOver(made, called.lease);
      changesOf(made, () => assert.throws(() => verb.call(called), isLost));
    },
  };
}

function inOne(verb: DriversVerb): RunStoreCase {
  return {
    name: `${verb.name} goes with the rest of what it was called together with`,
    check(made) {
      const called = prepareCall(made, verb);
      const both = () =>
        made.runs.together(() => {
          verb.call(called);
          throw left;
        });
      changesOf(made, () => assert.throws(both, left));
    },
  };
}

/** Promises of every verb of a driver. */
export const DRIVERS_CASES: readonly RunStoreCase[] = [
  ...DRIVERS_VERBS.flatMap((verb) => [onRecord(verb), halfWay(verb), fencedCase(verb), inOne(verb)]),
  ...QUIET_VERBS.flatMap((verb) => [fencedCase(verb), inOne(verb)]),
];
