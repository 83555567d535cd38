import { performance as measured } from 'node:perf_hooks';

/** The share of time with work, above which the event loop is busy. */
const BUSY = 0.9;

/**
 * Calls `work` after `ms`, or later while the event loop is busy, at the latest after `mostMs`. With many runs in one process each
 * run does little in that time, and work beside theirs holds up all of them.
 *
 * @returns What ends the wait.
 */
export function whenAtRest(work: () => void, ms: number, mostMs: number): () => void {
  const until = performance.now() + mostMs;
  const wait = (): NodeJS.Timeout => {
    const before = measured.eventLoopUtilization();
    return setTimeout(
      () => {
        const { utilization } = measured.eventLoopUtilization(before);
        if (utilization > BUSY && performance.now() < until) timer = wait();
        else work();
      },
      Math.min(ms, until - performance.now()),
    );
  };
  let timer = wait();
  return () => clearTimeout(timer);
}
