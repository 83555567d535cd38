import { spawn } from 'node:child_process';
import { env as environment } from 'node:process';

export interface Typed {
  readonly words: readonly string[];
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Shown {
  readonly status: string;
  readonly gates: readonly { readonly id: string; readonly kind: string }[];
}

/** Time limit of one command, ms. */
const TIMEOUT_MS = 300_000;

/** Somebody at a terminal of their own, who types `devs` commands in their repository. */
export class Person {
  readonly typed: Typed[] = [];
  readonly #bin: string;
  readonly #cwd: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(bin: string, cwd: string, env: Readonly<Record<string, string>>) {
    this.#bin = bin;
    this.#cwd = cwd;
    this.#env = { ...environment, NO_COLOR: '1', ...env };
  }

  async devs(...words: readonly string[]): Promise<Typed> {
    const child = spawn(process.execPath, [this.#bin, ...words], {
      cwd: this.#cwd,
      env: this.#env,
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
    const typed = { words, exitCode, ...written };
    this.typed.push(typed);
    return typed;
  }

  /** How a run stands; looking is no decision. */
  async look(run: string): Promise<Shown> {
    const { stdout } = await this.devs('status', run, '--json');
    this.typed.pop();
    return JSON.parse(stdout) as Shown;
  }
}
