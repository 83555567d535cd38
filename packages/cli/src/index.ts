// @devs/cli: the `devs` command as a function.

export { EXIT, type ExitCode } from './exitCodes.ts';
export { main } from './main.ts';
export type { Io, Sink } from './terminal/Io.ts';
