import { EXIT, type ExitCode } from './exitCodes.ts';
import { main } from './main.ts';
import { processIo } from './terminal/processIo.ts';

/** Runs the command line of a process. */
export async function runProcess(process: NodeJS.Process): Promise<ExitCode> {
  const io = processIo(process);
  const exitCode = await main(process.argv.slice(2), io);
  return io.abort.aborted ? EXIT.interrupted : exitCode;
}
