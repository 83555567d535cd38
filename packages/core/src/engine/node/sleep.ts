import { dueDate, type Until } from './dueDate.ts';
import { waitHere } from './waitHere.ts';

export interface SleepOptions {
  /** Needed where a node sleeps side by side after work whose order may change. @defaultValue its place in the order */
  readonly name?: string;
}

/**
 * Sleeps in a node, and holds no process meanwhile: the run is suspended, and goes on with the first drive after the
 * hour, in any process. The date is that of the first execution, on the wall clock. In a subgraph or a tool, too.
 *
 * The node runs again from its beginning: what it does before belongs in a `step`. A date that has passed, and 0, do not
 * suspend.
 *
 * @param until - Milliseconds, or a date.
 * @throws TypeError outside a node of a run, and inside a step.
 * @throws RangeError for `NaN`, a negative number, or what is past ±8.64e15 ms.
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
