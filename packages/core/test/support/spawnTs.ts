import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TsProcess {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
}

/** Runs a TypeScript file of this repository as a real process, against the sources. */
export function spawnTs(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TsProcess {
  const child = spawn(
    process.execPath,
    ['--conditions=@devs/source', '--import', 'tsx', fileURLToPath(new URL(file, `file://${ROOT}`)), ...args],
    { cwd: ROOT, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString();
  });
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...output }));
  });
  return { child, finished };
}
