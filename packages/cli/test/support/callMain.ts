import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pid, env as processEnv } from 'node:process';
import type { ExitCode } from '../../src/exitCodes.ts';
import { main } from '../../src/main.ts';
import type { Io } from '../../src/terminal/Io.ts';

export interface Called {
  readonly exitCode: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where this process's commands keep what they accept; in the tests' empty home, which is removed. */
const STATE_HOME = join(processEnv['HOME'] ?? tmpdir(), `state-${pid}`);

/** Runs a command line in this process. */
export async function callMain(
  cwd: string,
  argv: readonly string[],
  io: Partial<Pick<Io, 'stdin' | 'env' | 'signal'>> & {
    readonly isTTY?: boolean;
    readonly onWrite?: (text: string) => void;
  } = {},
): Promise<Called> {
  const { isTTY = false, onWrite, env = {}, ...given } = io;
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
    env: { XDG_STATE_HOME: STATE_HOME, ...env },
    cwd,
    signal: new AbortController().signal,
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    ...given,
  });
  return { exitCode, ...written };
}

async function* noInput(): AsyncGenerator<string> {}
