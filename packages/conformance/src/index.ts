/**
 * The promises of every storage of runs: names and checks with plain assertions, for any test runner. Private: the tests of
 * core and of postgres use it. It is neither built nor published.
 *
 * @module @devs/conformance
 */

export type { RunOnRecord, RunStoreUnderTest } from './runStore/RunStoreUnderTest.ts';
export { runStoreCases } from './runStore/runStoreCases.ts';
export { driveMail, mailApp } from './runs/mail.ts';
export { runFilesCases, runsCases } from './runs/runsCases.ts';
