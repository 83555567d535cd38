// @devs/cli: the `devs` command as a function.

export { EXIT, type ExitCode } from './exitCodes.ts';
export type { Io, Sink } from './Io.ts';
export { main } from './main.ts';
