/**
 * Stand-ins for what lies outside the engine, for tests of your own, and what a storage of runs keeps to.
 *
 * @module @devs/core/testing
 */

export type { CrashPoint } from '../engine/node/crashPoint.ts';
export { aPlan, type FakeAgentsOptions, fakeAgents } from './fakeAgents.ts';
export { lineChanges } from './lineChanges.ts';
export { MemoryRuns } from './MemoryRuns.ts';
export { MemoryRunWorkspace, MemoryWorkspace } from './MemoryWorkspace.ts';
export type { RunOnRecord, RunStoreCase, RunStoreUnderTest } from './runStore/RunStoreUnderTest.ts';
export { runStoreCases } from './runStore/runStoreCases.ts';
export type { RunsCase, RunsUnderTest } from './runs/RunsUnderTest.ts';
export { runFilesCases, runsCases } from './runs/runsCases.ts';
export { SkippingClock } from './SkippingClock.ts';
export { scriptedChecks } from './scriptedChecks.ts';
export { TestApp, type TestOptions, testApp } from './TestApp.ts';
