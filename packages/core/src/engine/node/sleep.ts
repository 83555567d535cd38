import { dueDate, type Until } from './dueDate.ts';
import { waitHere } from './waitHere.ts';

export interface SleepOptions {
  /** Needed where a node sleeps side by side after work whose order may change. @defaultValue its place in the order */
  readonly name?: string;
}

/**
 * Suspends the run in a node until a time, without holding a process. The time counts from the first execution, on the
 * app's clock. Also works in subgraphs and tools.
 *
 * The node runs again from its first line, so put earlier work into a `step`. A past date and 0 do not suspend.
 *
 * @param until - Milliseconds, or a date.
 * @throws TypeError outside a node of a run, and inside a step.
 * @throws RangeError for `NaN`, a negative number, or a date past ±8.64e15 ms.
 *
 * @example
 * ```ts
 * await step('remind', ({ key }) => mail('Please answer', key));
 * await sleep(3 * 24 * 60 * 60 * 1000);
 * ```
 */
export async function sleep(until: Until, { name = '' }: SleepOptions = {}): Promise<void> {
  dueDate(until, 0);
  await waitHere('sleep()', {
    purpose: 'sleep',
    subject: null,
    name: `sleep/${name}`,
    dueAt: (now) => dueDate(until, now),
  });
}
