import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { programFile } from '../../../core/test/support/programFile.ts';

const repository = fileURLToPath(new URL('../../../..', import.meta.url));

/** Arguments of `node` that run a TypeScript program. */
export const argvOf = (program: URL, ...args: readonly string[]): string[] => [programFile(program), ...args];

/** A program in a process of its own, read and written line by line. */
export class Program {
  readonly process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  stdout = '';
  stderr = '';

  constructor(program: URL, ...args: readonly string[]) {
    this.process = spawn(process.execPath, argvOf(program, ...args), { cwd: repository });
    this.process.stdout.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString();
    });
    this.process.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.#lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  async read(): Promise<unknown> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`The program ended without an answer. ${this.stderr}`);
    return JSON.parse(value);
  }

  /** Skips lines until one fulfils `test`. */
  async readUntil<T>(test: (line: unknown) => line is T): Promise<T> {
    for (;;) {
      const line = await this.read();
      if (test(line)) return line;
    }
  }

  send(line: string): void {
    this.process.stdin.write(`${line}\n`);
  }

  async end(): Promise<void> {
    this.process.stdin.end();
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'exit');
  }
}
