import type { ExitCode } from '../../src/exitCodes.ts';
import { main } from '../../src/main.ts';
import type { Io } from '../../src/terminal/Io.ts';
import { stateHome } from './stateHome.ts';

export interface Called {
  readonly exitCode: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process. */
export async function callMain(
  cwd: string,
  argv: readonly string[],
  io: Partial<Pick<Io, 'stdin' | 'env' | 'signal'>> & {
    readonly isTTY?: boolean;
    readonly onWrite?: (text: string) => void;
  } = {},
): Promise<Called> {
  const { isTTY = false, onWrite, ...given } = io;
  const written = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr') => ({
    isTTY,
    write: (text: string) => {
      written[name] += text;
      onWrite?.(text);
    },
  });
  const exitCode = await main(argv, {
    stdin: noInput(),
    cwd,
    signal: new AbortController().signal,
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    ...given,
    env: { XDG_STATE_HOME: stateHome(), ...given.env },
  });
  return { exitCode, ...written };
}

async function* noInput(): AsyncGenerator<string> {}
