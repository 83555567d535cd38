import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { sharedBin } from './sharedBin.ts';
import { stateHome } from './stateHome.ts';

const BIN = await sharedBin();

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves once there is such a file; rejects when the process ends before. */
  readonly untilExists: (path: string) => Promise<void>;
  /** Resolves once the text was written to stderr; rejects when the process ends before. */
  readonly untilSays: (text: string) => Promise<void>;
}

/** Starts the real command as a process. @param variables - Of its environment, beside those of this one. */
export function startBin(
  cwd: string,
  argv: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Started {
  const env = { ...process.env, XDG_STATE_HOME: stateHome(), ...variables };
  const child = spawn(process.execPath, [BIN, ...argv], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, ...written }));
  });
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) {
      if (child.exitCode !== null) throw new Error(`The process ended too early: ${written.stderr}`);
      await sleep(10);
    }
  };
  return {
    child,
    ended,
    untilExists: (path) => until(() => existsSync(path)),
    untilSays: (text) => until(() => written.stderr.includes(text)),
  };
}

export const runBin = (cwd: string, argv: readonly string[]): Promise<Ended> => startBin(cwd, argv).ended;
