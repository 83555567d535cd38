import { performance as measured } from 'node:perf_hooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { whenAtRest } from '../held/whenAtRest.ts';

let utilization = 0;

beforeEach(() => {
  const rest = { idle: 0, active: 0 };
  vi.spyOn(measured, 'eventLoopUtilization').mockImplementation(() => ({ ...rest, utilization }));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** After how many ms, of the played clock, it is called. */
function calledAt(): readonly number[] {
  const calls: number[] = [];
  const from = performance.now();
  whenAtRest(() => calls.push(performance.now() - from), 100, 450);
  return calls;
}

describe('what can wait', () => {
  test('is done after its time where the event loop has rested meanwhile', () => {
    utilization = 0.5;
    const calls = calledAt();
    vi.advanceTimersByTime(1000);
    expect(calls).toEqual([100]);
  });

  test('waits on while the event loop has no rest, to an end', () => {
    utilization = 1;
    const calls = calledAt();
    vi.advanceTimersByTime(1000);
    expect(calls).toEqual([450]);
  });

  test('waits no longer once it has rested', () => {
    utilization = 1;
    const calls = calledAt();
    vi.advanceTimersByTime(150);
    utilization = 0.5;
    vi.advanceTimersByTime(1000);
    expect(calls).toEqual([200]);
  });

  test('is not done once its wait was ended, at whatever look', () => {
    utilization = 1;
    const work = vi.fn();
    for (const ms of [50, 150]) {
      const end = whenAtRest(work, 100, 450);
      vi.advanceTimersByTime(ms);
      end();
      vi.advanceTimersByTime(1000);
    }
    expect(work).not.toHaveBeenCalled();
  });
});
