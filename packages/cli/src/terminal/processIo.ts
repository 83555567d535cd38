import type { Io } from './Io.ts';
import { inputOf } from './inputOf.ts';
import { type StopSignals, stopSignals } from './stopSignals.ts';

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
