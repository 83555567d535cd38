import { DRIVERS_CASES } from './driversCases.ts';
import type { RunStoreCase } from './RunStoreUnderTest.ts';
import { RUN_CASES } from './runCases.ts';
import { VISIT_CASES } from './visitCases.ts';

/**
 * The promises of every `RunStore`: each case is a name and a check with plain assertions, on a storage of its own.
 *
 * @example
 * ```ts
 * test.each(runStoreCases)('$name', async ({ check }) => await check(myStores()));
 * ```
 */
export const runStoreCases: readonly RunStoreCase[] = [...DRIVERS_CASES, ...VISIT_CASES, ...RUN_CASES];
