import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A place where a test ends the process. `before step`: the step is started, its call not made. `in step`: the call was
 * made, its result not recorded. `after step`: the result is recorded. `before node`: its gates are answered. `after
 * node`: its work is done, not committed.
 */
export type CrashPoint =
  | `${'before' | 'in' | 'after'} step ${string}`
  | `${'before' | 'after'} node ${string}`;

/** Ends the process where it says true. */
type OnPoint = (point: CrashPoint) => boolean;

const tests = new AsyncLocalStorage<OnPoint>();

/** Does `work` in a process that a test may end. */
export function withCrashPoints<T>(onPoint: OnPoint, work: () => T): T {
  return tests.run(onPoint, work);
}

/** Whether a test has ended the process here; then nothing comes after {@link neverEnds}. Costs no turn of the event loop. */
export const diedAt = (point: CrashPoint): boolean => tests.getStore()?.(point) === true;

export const neverEnds = (): Promise<never> => new Promise(() => {});
