import { AsyncLocalStorage } from 'node:async_hooks';
import type { Masked } from '../../masking/MaskRule.ts';
import { maskPreciseDeep } from '../../masking/maskSensitiveData.ts';
import type { Thread } from '../../state/threads/threadRecords.ts';

// Values are kept exactly. Earlier releases masked secrets before they recorded or hashed anything, so what a run of theirs is
// asked and told again is compared as they would have recorded it. Nothing else of such a run is masked any more.

/** What a value is recorded and compared as, where it is compared with what a run has recorded. */
export interface Law {
  /** @param value - Plain JSON. @returns With the count of secrets that were masked: none in a run that keeps exactly. */
  keep<T>(value: T): Masked<T>;
}

const EXACT: Law = { keep: (value) => ({ value, count: 0 }) };

const MASKED: Law = { keep: (value) => maskPreciseDeep(value) };

/** @param run - `null` for one that is not recorded yet. */
export const lawOf = (run: Pick<Thread, 'keepsExactly'> | null): Law =>
  run?.keepsExactly === false ? MASKED : EXACT;

const laws = new AsyncLocalStorage<Law>();

/** Does something with a run, such as to drive it: all that it calls finds the run's law {@link lawHere}. */
export const underLaw = <T>(law: Law, work: () => T): T => laws.run(law, work);

/** Of the run that is driven around this code. */
export const lawHere = (): Law => laws.getStore() ?? EXACT;
