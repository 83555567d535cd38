/**
 * The public API of @devs/ui: a page for people over the runs in a state file, as a fetch handler.
 *
 * @module @devs/ui
 */

export { createUi, type UiHandler, type UiOptions } from './createUi.ts';
export { listener } from './node/listener.ts';
export { serveOnLoopback } from './node/serveOnLoopback.ts';
export { OneTimeCodes } from './session/OneTimeCodes.ts';
