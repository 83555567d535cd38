import type { Principal } from '../../state/gates/hitlSession.ts';
import { lawHere } from '../lawOf.ts';
import { type Message, messageOf, signalName } from '../waits/waits.ts';
import type { RecordedNode } from './ActiveNode.ts';
import { dueDate, type Until } from './dueDate.ts';
import { activeNode } from './nodeContext.ts';
import { waitHere } from './waitHere.ts';

/** Result of a wait with a timeout. */
export type WaitResult<Payload> =
  | { readonly timedOut: false; readonly payload: Payload; readonly by: Principal }
  | { readonly timedOut: true };

export interface WaitForOptions {
  /** How long at most: milliseconds, or a date. */
  readonly within: Until;
}

/**
 * Waits in a node for a signal with this name, see `app.signal`. The run is suspended and holds no process. Each signal
 * is delivered once, oldest first; an early one stays stored. Also works in subgraphs and tools.
 *
 * With `within`, the first of signal and timeout is final. A signal that is stored when the run resumes wins, however
 * late it is.
 *
 * @throws TypeError outside a node of a run, inside a step, and for an empty name.
 * @throws RangeError for an invalid `within`, see `sleep`.
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
): Promise<WaitResult<Payload>>;
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
  const { store } = activeNode('waitFor()') as RecordedNode;
  const { payload, by }: Message = messageOf(metBy, store);
  return options === undefined ? payload : { timedOut: false, payload, by };
}
