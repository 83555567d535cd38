import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CheckpointWindow } from '../WindowedSaver.ts';

const pushes = fc.array(fc.integer(), { maxLength: 40 });
const sizes = fc.integer({ min: 1, max: 8 });
const limits = fc.integer({ min: 0, max: 20 });

describe('CheckpointWindow', () => {
  test('keeps the first and the newest ones, and loses nothing in between', () => {
    fc.assert(
      fc.property(pushes, sizes, limits, (pushed, size, keepAll) => {
        const evicted: number[] = [];
        const window = new CheckpointWindow<number>(size, (checkpoint) => evicted.push(checkpoint), keepAll);
        for (const checkpoint of pushed) window.push(checkpoint);

        const first = pushed.slice(0, 1);
        const newest = pushed.slice(1).slice(pushed.length > keepAll ? -size : 0);
        expect(window.retained()).toEqual([...first, ...newest]); // W1
        expect([...first, ...evicted, ...window.retained().slice(1)]).toEqual(pushed); // W3
      }),
    );
  });

  test('a checkpoint has been persisted before it leaves memory', () => {
    fc.assert(
      fc.property(pushes, sizes, (pushed, size) => {
        const entries = pushed.map((value) => ({ value }));
        const window = new CheckpointWindow<{ value: number }>(size, (checkpoint) => {
          expect(window.retained()).toContain(checkpoint); // W2
        });
        for (const checkpoint of entries) window.push(checkpoint);
      }),
    );
  });

  test('nothing leaves memory while persisting fails, and all of it does once it works again', () => {
    fc.assert(
      fc.property(pushes, sizes, fc.array(fc.boolean()), (pushed, size, failures) => {
        const evicted: number[] = [];
        const outcomes = failures.values();
        let isBroken = true;
        const window = new CheckpointWindow<number>(size, (checkpoint) => {
          if (isBroken && outcomes.next().value === true) throw new Error('disk full');
          evicted.push(checkpoint);
        });
        const tryToPush = (checkpoint: number): void => {
          try {
            window.push(checkpoint);
          } catch (error) {
            expect(error).toHaveProperty('message', 'disk full');
          }
        };
        for (const checkpoint of pushed) tryToPush(checkpoint);
        expect([...pushed.slice(0, 1), ...evicted, ...window.retained().slice(1)]).toEqual(pushed);
        isBroken = false;
        window.push(0);
        expect(window.retained().length).toBeLessThanOrEqual(size + 1);
      }),
    );
  });

  test.each([0, -1, 1.5, Number.NaN])('refuses to keep %d checkpoints', (size) => {
    expect(() => new CheckpointWindow(size, () => undefined)).toThrow(RangeError);
  });

  test.each([-1, 1.5, Number.NaN])('refuses to keep everything up to %d checkpoints', (keepAll) => {
    expect(() => new CheckpointWindow(5, () => undefined, keepAll)).toThrow(RangeError);
  });
});
