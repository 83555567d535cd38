import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { programFile } from './programFile.ts';

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

/** Runs a TypeScript program of this repository as a real process, as one file: see {@link programFile}. */
export function spawnProgram(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TsProcess {
  return spawnNode([programFile(new URL(file, `file://${ROOT}`)), ...args], env);
}

/** Runs a TypeScript file of this repository as a real process, against the sources where they lie: prompts are beside them. */
export function spawnTs(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): TsProcess {
  const path = fileURLToPath(new URL(file, `file://${ROOT}`));
  return spawnNode(['--conditions=@devs/source', '--import', 'tsx', path, ...args], env);
}

/** Runs Node.js as a real process. */
export function spawnNode(argv: readonly string[], env: Readonly<Record<string, string>>): TsProcess {
  const child = spawn(process.execPath, argv, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
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
