import { type ChildProcess, spawn } from 'node:child_process';
import type { Ended } from '../../test/trial/Person.ts';

/** Longest run of one program, ms. */
const TIMEOUT_MS = 900_000;

interface Place {
  readonly cwd?: string;
  /** All of its environment. @defaultValue that of this process */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Programs that end with this one. */
export class Programs {
  readonly #running = new Set<ChildProcess>();
  #isStopped = false;

  /** Runs one to its end; one that fails is no error. */
  async run([program = '', ...args]: readonly string[], { cwd, env }: Place = {}): Promise<Ended> {
    if (this.#isStopped) throw new Error('stopped');
    const options = { cwd, env: env ?? process.env, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' as const };
    const child = spawn(program, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#running.add(child);
    const written = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        written[name] += text;
      });
    try {
      const exitCode = await new Promise<number | null>((resolve, reject) => {
        child.on('error', reject);
        child.on('close', resolve);
      });
      if (this.#isStopped) throw new Error('stopped');
      return { exitCode, ...written };
    } finally {
      this.#running.delete(child);
    }
  }

  /** @throws Error with what it printed when it fails. */
  async done(argv: readonly string[], place?: Place): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(argv, place);
    if (exitCode === 0) return stdout.trim();
    throw new Error(
      `${argv.slice(0, 3).join(' ')} ended with ${exitCode}: ${(stderr + stdout).slice(-2_000)}`,
    );
  }

  /** Ends them, and starts no other. */
  stop(): void {
    this.#isStopped = true;
    for (const { pid } of this.#running) if (pid !== undefined) process.kill(-pid, 'SIGTERM');
  }
}
