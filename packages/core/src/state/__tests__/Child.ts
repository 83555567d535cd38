import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { programFile } from '../../../test/support/programFile.ts';

/** A TypeScript program in a process of its own that speaks JSON lines: one per answer, one per command. */
export class Child {
  readonly process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #stderr = '';

  /** @param program - URL of the program. */
  constructor(program: URL, ...args: readonly string[]) {
    this.process = spawn(process.execPath, [programFile(program), ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.process.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString();
    });
    const stdout = this.process.stdout;
    if (stdout === null) throw new Error('The child has no stdout.');
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  async read<T>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`The child ended without an answer. ${this.#stderr}`);
    return JSON.parse(value) as T;
  }

  send(command: string): void {
    this.process.stdin?.write(`${command}\n`);
  }

  /** Sends SIGKILL (or another signal) and waits until the process is gone. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const gone = once(this.process, 'exit');
    this.process.kill(signal);
    await gone;
  }
}
