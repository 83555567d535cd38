import { LEASE_TTL_MS } from '../../state/ThreadStore.ts';
import type { DueCriteria } from '../../state/WaitStore.ts';
import { ASKED_TO_STOP } from './drainOnAbort.ts';

/**
 * What makes a run due now. Who records a run drives it at once, as a rule: it is left to them as long as a lease is to who
 * holds it.
 *
 * @param clock - Now, in milliseconds since the Unix epoch.
 * @param at - What runs wait for and is due by then has come. @defaultValue `clock`
 */
export const dueCriteria = (clock: number, at: number = clock): DueCriteria => ({
  now: at,
  leftFor: ASKED_TO_STOP,
  begunBy: clock - LEASE_TTL_MS,
});
