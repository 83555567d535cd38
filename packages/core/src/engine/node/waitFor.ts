import type { Principal } from '../../state/hitlSession.ts';
import { lawHere } from '../lawOf.ts';
import { type Message, messageOf } from '../waits/message.ts';
import { signalName } from '../waits/signalName.ts';
import type { RecordedVisit } from './ActiveVisit.ts';
import { dueDate, type Until } from './dueDate.ts';
import { activeVisit } from './visitContext.ts';
import { waitHere } from './waitHere.ts';

/** What came of a wait that may end by its time. */
export type Waited<Payload> =
  | { readonly timedOut: false; readonly payload: Payload; readonly by: Principal }
  | { readonly timedOut: true };

export interface WaitForOptions {
  /** How long at most: milliseconds, or a date. */
  readonly within: Until;
}

/**
 * Waits in a node for a signal of that name, see `app.signal`, and holds no process meanwhile. Each signal is taken once,
 * the oldest first; one that came before anybody waited is kept. In a subgraph or a tool, too.
 *
 * With `within`, the first of signal and time wins, once and for all: a signal that nobody has taken when the run is
 * driven goes first, however late.
 *
 * @throws TypeError outside a node of a run, inside a step, and for an empty name.
 * @throws RangeError for a `within` that is no time, see {@link sleep}.
 *
 * @example
 * ```ts
 * const paid = await waitFor<Payment>('payment', { within: 14 * DAY });
 * return { state: paid.timedOut ? 'overdue' : paid.payload.state };
 * ```
 */
export async function waitFor<Payload = unknown>(name: string): Promise<Payload>;
export async function waitFor<Payload = unknown>(
  name: string,
  options: WaitForOptions,
): Promise<Waited<Payload>>;
export async function waitFor(name: string, options?: WaitForOptions): Promise<unknown> {
  const subject = signalName(name, lawHere());
  if (options !== undefined) dueDate(options.within, 0);
  const { metBy } = await waitHere('waitFor()', {
    purpose: 'signal',
    subject,
    name: `signal/${subject}`,
    dueAt: (now) => (options === undefined ? null : dueDate(options.within, now)),
  });
  if (metBy === null) return { timedOut: true };
  const { store } = activeVisit('waitFor()') as RecordedVisit;
  const { payload, by }: Message = messageOf(metBy, store);
  return options === undefined ? payload : { timedOut: false, payload, by };
}
