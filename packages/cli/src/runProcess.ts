// A process as the command line uses it: its streams, its input, the signals that stop it, and its exit code.
import { execFileSync } from 'node:child_process';
import { EXIT, type ExitCode } from './exitCodes.ts';
import { main } from './main.ts';
import type { Io } from './terminal/Io.ts';

/** Runs the command line of a process. */
export async function runProcess(process: NodeJS.Process): Promise<ExitCode> {
  const io = processIo(process);
  if (process.env['npm_command'] === 'exec') whenNpxEnds(process.ppid, () => process.emit('SIGTERM'));
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
  const streams = { stdin: inputOf(stdin), stdout, stderr };
  return { ...streams, env, cwd: process.cwd(), ...stopSignals(process), isWholeProcess: true };
}

/** What is used of `process.stdin`. */
type Source = Pick<NodeJS.ReadStream, 'resume' | 'pause' | 'once' | 'off' | 'readableEnded' | 'destroyed'> & {
  readonly isTTY?: boolean;
};

/**
 * A stream that is read only while somebody waits for input: an editor or a pager has the terminal otherwise, and the
 * process ends with nobody asking. Letting go of it does not close it: it can be read again.
 */
function inputOf(stdin: Source): Io['stdin'] {
  return {
    ...(stdin.isTTY !== undefined && { isTTY: stdin.isTTY }),
    [Symbol.asyncIterator]: () => readsOf(stdin),
  };
}

function readsOf(stdin: Source): AsyncIterator<Uint8Array> {
  let forget = (): void => {};
  return {
    next: () =>
      new Promise((resolve, reject) => {
        if (stdin.readableEnded || stdin.destroyed) {
          resolve({ done: true, value: undefined });
          return;
        }
        const settle = <Args extends readonly unknown[]>(work: (...args: Args) => void) => {
          return (...args: Args): void => {
            forget();
            work(...args);
          };
        };
        const end = settle(() => resolve({ done: true, value: undefined }));
        const data = settle((chunk: Uint8Array) => resolve({ done: false, value: chunk }));
        const error = settle(reject);
        forget = () => {
          stdin.pause();
          stdin.off('data', data).off('end', end).off('close', end).off('error', error);
        };
        stdin.once('data', data).once('end', end).once('close', end).once('error', error);
        stdin.resume();
      }),
    return: async () => {
      forget();
      return { done: true, value: undefined };
    },
  };
}

/** Between two looks at whether npx is there, ms. */
const NPX_MS = 1_000;

/**
 * Calls back when the npx that has started this process is gone: at SIGTERM it ends without passing that on.
 *
 * @param parent - npx, or the shell that it has started.
 */
export function whenNpxEnds(parent: number, ended: () => void): void {
  const npx = npxAbove(parent);
  if (npx === null) return;
  const looking = setInterval(() => {
    if (isAlive(npx)) return;
    clearInterval(looking);
    ended();
  }, NPX_MS);
  looking.unref();
}

/** A process or the one above it, if that is npx; `null` also if the machine lacks `ps`. */
function npxAbove(pid: number, levels = 2): number | null {
  if (levels === 0) return null;
  try {
    const argv = ['-o', 'ppid=,command=', '-p', String(pid)];
    const [, parent = '', command = ''] =
      /^\s*(\d+)\s+(.*)/.exec(execFileSync('ps', argv, { encoding: 'utf8', stdio: 'pipe' })) ?? [];
    return /(?:^|[\s/])np[mx]\b/.test(command) ? pid : npxAbove(Number(parent), levels - 1);
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

type SignalSource = Pick<NodeJS.Process, 'on' | 'exit'>;

/** How long calls in flight may go on after SIGTERM, ms: whoever sent it sends no second one, and kills within 10 s. */
const TERM_DRAIN_MS = 5_000;

/** How long calls in flight have to end once they are aborted, ms. */
const GRACE_MS = 3_000;

interface StopSignals {
  /** Aborted by the first signal: stop at the next safe point. */
  readonly signal: AbortSignal;
  /** Aborted by the second one, and 5 s after SIGTERM: end what is in flight, with its processes, and leave. */
  readonly abort: AbortSignal;
  /** For who ends what is in flight in a time of their own: SIGTERM does not, then. */
  readonly drainsAlone: () => void;
}

/** Turns Ctrl-C and SIGTERM into requests to stop; a call that does not end in time is left behind. */
export function stopSignals(process: SignalSource): StopSignals {
  const drain = new AbortController();
  const abort = new AbortController();
  let termDrainMs: number | null = TERM_DRAIN_MS;
  const end = (): void => {
    if (abort.signal.aborted) process.exit(EXIT.interrupted);
    abort.abort();
    setTimeout(() => process.exit(EXIT.interrupted), GRACE_MS).unref();
  };
  const onSignal = (): void => (drain.signal.aborted ? end() : drain.abort());
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', () => {
    const isFirst = !drain.signal.aborted;
    onSignal();
    if (!isFirst || termDrainMs === null) return;
    const endOnce = (): void => (abort.signal.aborted ? undefined : end());
    setTimeout(endOnce, termDrainMs).unref();
  });
  // The terminal is gone, and with it whoever could send a second signal.
  process.on('SIGHUP', () => {
    drain.abort();
    end();
  });
  const drainsAlone = (): void => {
    termDrainMs = null;
  };
  return { signal: drain.signal, abort: abort.signal, drainsAlone };
}
