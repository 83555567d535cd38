import { spawn } from 'node:child_process';
import { env as environment } from 'node:process';
import type { Devs } from './Person.ts';

/** Time limit of one command, ms. */
const TIMEOUT_MS = 900_000;

/** The bundled command, a process each time. */
export const asProcess =
  (bin: string): Devs =>
  async (words, { cwd, env }) => {
    const child = spawn(process.execPath, [bin, ...words], {
      cwd,
      env: { ...environment, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    const written = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        written[name] += text;
      });
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    return { exitCode, ...written };
  };
