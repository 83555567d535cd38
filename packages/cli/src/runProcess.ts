import { EXIT, type ExitCode } from './exitCodes.ts';
import { main } from './main.ts';
import type { Io } from './terminal/Io.ts';
import { inputOf } from './terminal/inputOf.ts';
import { type StopSignals, stopSignals } from './terminal/stopSignals.ts';

/** Runs the command line of a process. */
export async function runProcess(process: NodeJS.Process): Promise<ExitCode> {
  const io = processIo(process);
  const exitCode = await main(process.argv.slice(2), io);
  return io.abort.aborted ? EXIT.interrupted : exitCode;
}

/** The process as {@link Io}. A reader that goes away (`devs log x | head`) is no error. */
export function processIo(process: NodeJS.Process): Io & StopSignals {
  const { stdin, stdout, stderr, env } = process;
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  return { stdin: inputOf(stdin), stdout, stderr, env, cwd: process.cwd(), ...stopSignals(process) };
}
