/**
 * The `devs` command as a function.
 *
 * @module @devs/cli
 */

export { EXIT } from './exitCodes.ts';
export { main } from './main.ts';
export type { Io } from './terminal/Io.ts';
