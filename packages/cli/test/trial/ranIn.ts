import { execFile } from 'node:child_process';

export interface Ran {
  /** `null` when it could not be started, or was ended by a signal. */
  readonly status: number | null;
  readonly stdout: string;
  /** Of both streams. */
  readonly output: string;
}

const TIMEOUT_MS = 600_000;

/** Runs a command to its end; one that fails is no error. */
export function ranIn(
  cwd: string,
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { cwd, timeout: TIMEOUT_MS, maxBuffer: 1 << 26, env: { ...process.env, ...env } };
    execFile(program, args, options, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ status, stdout, output: `${stdout}${stderr}` });
    });
  });
}
