/**
 * The public API of @devs/ui: a page for people over the runs in a state file, as a fetch handler.
 *
 * @module @devs/ui
 */

export { createUi, type UiHandler, type UiOptions } from './createUi.ts';
export { listener } from './node/listener.ts';
export { type Loopback, type LoopbackOptions, serveOnLoopback } from './node/serveOnLoopback.ts';
export { OneTimeCodes, type OneTimeCodesOptions } from './session/OneTimeCodes.ts';
export type { Asking } from './state/RunsPlace.ts';
export type { GateCode, ReadCode, ReadCommit } from './views/gateCode.ts';
export type { RewindableRun, Rewinding } from './views/rewindView.ts';
