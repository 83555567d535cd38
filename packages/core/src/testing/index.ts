/**
 * For tests of your own graph: an app in memory, a clock, crash points, stand-ins for agents and checks.
 *
 * @module @devs/core/testing
 */

export { fakeAgents, scriptedChecks } from './fakeAgents.ts';
export { MemoryRuns } from './MemoryRuns.ts';
export { MemoryWorkspace } from './MemoryWorkspace.ts';
export { SkippingClock, testApp } from './TestApp.ts';
