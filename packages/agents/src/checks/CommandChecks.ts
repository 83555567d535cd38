import { stat } from 'node:fs/promises';
import { type CheckRequest, type CheckResult, type Checks, DevsError, maskSensitiveData } from '@devs/core';
import { assertPositiveInteger } from '../assertPositiveInteger.ts';
import { commandEnvironment } from '../process/commandEnvironment.ts';
import { MaskedTail } from '../process/MaskedTail.ts';
import { type ProcessEnd, runProcess } from '../process/runProcess.ts';
import { type Scratch, withScratch } from '../process/withScratch.ts';
import type { Sandbox } from '../sandbox/Sandbox.ts';

export interface CommandChecksOptions {
  /** Program and arguments, run without a shell. @defaultValue `['npm', 'test']` */
  readonly argv?: readonly string[];
  /** @defaultValue 120 000 */
  readonly timeoutMs?: number;
  /** Bytes of output kept, from its end. @defaultValue 64 KiB */
  readonly maxOutputBytes?: number;
  /** Names of further variables the command may see. @defaultValue none */
  readonly env?: readonly string[];
  /** What confines the command; `null` runs it with all rights of this user. @defaultValue `null` */
  readonly sandbox?: Sandbox | null;
  /** Whether it may use the network: to install dependencies. Only a sandbox can refuse it. @defaultValue `false` */
  readonly network?: boolean;
}

// What a shell reports for a command it cannot find or may not run.
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/**
 * Judges a workspace by running its own tests as a command.
 *
 * The command gets an allow-listed environment, an empty HOME and a TMPDIR of its own (both removed
 * afterwards), a time limit that ends its whole process group, and an output cap. Without a sandbox it can read and
 * write what this user can.
 *
 * @example
 * ```ts
 * const checks = new CommandChecks({ argv: ['npm', 'test'], timeoutMs: 60_000 });
 * const { passed, output } = await checks.run({ dir, signal });
 * ```
 */
export class CommandChecks implements Checks {
  readonly #argv: readonly string[];
  readonly #timeoutMs: number;
  readonly #maxOutputBytes: number;
  readonly #env: readonly string[];
  readonly #sandbox: Sandbox | null;
  readonly #network: boolean;

  constructor(options: CommandChecksOptions = {}) {
    const { argv = ['npm', 'test'], timeoutMs = 120_000, maxOutputBytes = 64 * 1024, env = [] } = options;
    const { sandbox = null, network = false } = options;
    if (argv.length === 0 || argv[0] === '')
      throw new TypeError('Expected argv to name a command, got none.');
    assertPositiveInteger('timeoutMs', timeoutMs);
    assertPositiveInteger('maxOutputBytes', maxOutputBytes);
    this.#argv = argv;
    this.#timeoutMs = timeoutMs;
    this.#maxOutputBytes = maxOutputBytes;
    this.#env = env;
    this.#sandbox = sandbox;
    this.#network = network;
  }

  /**
   * A command that is missing, fails or takes too long is a red check, not an error.
   *
   * @throws DevsError `WORKSPACE_FAILED` when `dir` is no folder.
   * @throws the signal's reason when aborted, once the command is gone.
   */
  async run(request: CheckRequest): Promise<CheckResult> {
    const { dir, signal } = request;
    signal.throwIfAborted();
    await requireFolder(dir);
    const result = await withScratch('devs-check-', (scratch) => this.#execute(request, scratch));
    signal.throwIfAborted();
    return result;
  }

  async #execute(request: CheckRequest, scratch: Scratch): Promise<CheckResult> {
    const { dir, root = dir, signal, onActivity } = request;
    const { dir: folder } = scratch;
    const place = { workspace: root, dir, scratch: folder, network: this.#network };
    const output = new MaskedTail(this.#maxOutputBytes);
    onActivity?.({ kind: 'doing', what: this.#command() });
    const pushTo = (): ((chunk: Buffer) => void) => {
      const decoder = new TextDecoder(); // a character may come in two chunks
      return (chunk) => {
        output.push(chunk);
        onActivity?.({ kind: 'output', text: decoder.decode(chunk, { stream: true }) });
      };
    };
    try {
      const end = await runProcess({
        argv: [...(this.#sandbox?.prefix(place) ?? []), ...this.#argv],
        cwd: dir,
        env: { ...commandEnvironment(scratch, this.#env), CI: '1' },
        timeoutMs: this.#timeoutMs,
        signal,
        onStdout: pushTo(),
        onStderr: pushTo(),
      });
      return this.#result(end, output.toString());
    } catch (error) {
      return this.#notStarted(error as NodeJS.ErrnoException);
    }
  }

  #result({ exitCode, stoppedBy }: ProcessEnd, output: string): CheckResult {
    const timedOut = stoppedBy === 'timeout';
    return {
      passed: exitCode === 0 && !timedOut,
      exitCode: timedOut ? null : exitCode,
      timedOut,
      output: timedOut ? `${output}\nStopped after ${this.#timeoutMs} ms.` : output,
      command: this.#command(),
    };
  }

  #notStarted({ code, message }: NodeJS.ErrnoException): CheckResult {
    const missing = code === 'ENOENT';
    const why = missing ? 'it was not found on PATH' : message;
    return {
      passed: false,
      exitCode: missing ? NOT_FOUND : NOT_EXECUTABLE,
      timedOut: false,
      output: maskSensitiveData(`The check "${this.#command()}" could not be started: ${why}.`),
      command: this.#command(),
    };
  }

  #command(): string {
    return maskSensitiveData(this.#argv.map(quoted).join(' '));
  }
}

function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`;
}

async function requireFolder(dir: string): Promise<void> {
  const found = await stat(dir).catch(() => null);
  if (found?.isDirectory()) return;
  throw new DevsError(`The folder to check does not exist: ${dir}`, {
    code: 'WORKSPACE_FAILED',
    remedy: 'Open the workspace of the run before running its checks.',
  });
}
