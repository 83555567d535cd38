/**
 * The `devs` command as a function.
 *
 * @module @devs/cli
 */

export { EXIT, type ExitCode } from './exitCodes.ts';
export { main } from './main.ts';
export type { Io, Sink } from './terminal/Io.ts';
