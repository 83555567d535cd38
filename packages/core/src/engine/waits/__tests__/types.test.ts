import { describe, expect, expectTypeOf } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import type { Deadline } from '../../gates/DeclaredGate.ts';
import { sleep, type WaitResult, waitFor } from '../../node/waitFor.ts';

interface Payment {
  readonly amount: number;
}

// What is said here is said to the compiler.
describe('what waits and what they give have types', () => {
  test('of deadlines', ({ db }) => {
    const gate = {
      show: () => 1,
      deadlines: [
        { within: 1, do: { reassign: ['ada'] } },
        { within: 2, do: 'reject' },
      ],
    } as const;
    const app = durable(twoSteps(), { db, gates: { second: gate } });
    // @ts-expect-error: nothing that is done
    const wrong: Deadline = { within: 1, do: 'wait' };
    expect(() => durable(twoSteps(), { db, gates: { second: { ...gate, deadlines: wrong } } })).toThrow('do');
    const use = async () => {
      const [open] = await app.gates('r');
      expectTypeOf(open?.dueAt).toEqualTypeOf<string | undefined>();
      expectTypeOf(open?.assignedTo).toEqualTypeOf<readonly string[] | undefined>();
    };
    expect(use).toBeTypeOf('function');
  });

  test('of a node', () => {
    const node = async () => {
      expectTypeOf(await waitFor('paid')).toEqualTypeOf<unknown>();
      expectTypeOf(await waitFor<Payment>('paid')).toEqualTypeOf<Payment>();
      const paid = await waitFor<Payment>('paid', { within: new Date() });
      expectTypeOf(paid).toEqualTypeOf<WaitResult<Payment>>();
      if (!paid.timedOut) expectTypeOf(paid.payload.amount).toEqualTypeOf<number>();
      // @ts-expect-error: it may have timed out
      expectTypeOf(paid.payload).toEqualTypeOf<Payment>();
      expectTypeOf(await sleep(1, { name: 'nap' })).toEqualTypeOf<void>();
      // @ts-expect-error: no text is an hour
      await sleep('tomorrow');
    };
    expect(node).toBeTypeOf('function');
  });

  test('of an app', ({ db }) => {
    const app = durable(twoSteps(), { db });
    const use = async () => {
      const { until, waitsFor } = await app.run('r', {});
      expectTypeOf(until).toEqualTypeOf<number | undefined>();
      expectTypeOf(waitsFor).toEqualTypeOf<readonly string[] | undefined>();
      const { driven } = await app.runDue({ limit: 1 });
      expectTypeOf(driven[0]?.id).toEqualTypeOf<string | undefined>();
      expectTypeOf(driven[0]?.values?.log).toEqualTypeOf<readonly string[] | undefined>();
      // @ts-expect-error: who tells it is said
      await app.signal('r', 'paid', 1, { signalId: '1' });
    };
    expect(use).toBeTypeOf('function');
  });
});
