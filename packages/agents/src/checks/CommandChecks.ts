import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CheckResult, type Checks, DevsError, maskSensitiveData } from '@devs/core';
import { MaskedTail } from '../process/MaskedTail.ts';
import { pickEnvironment } from '../process/pickEnvironment.ts';
import { type ProcessEnd, runProcess } from '../process/runProcess.ts';

export interface CommandChecksOptions {
  /** Program and arguments, run without a shell. @defaultValue `['npm', 'test']` */
  readonly argv?: readonly string[];
  /** @defaultValue 120 000 */
  readonly timeoutMs?: number;
  /** Bytes of output kept, from its end. @defaultValue 64 KiB */
  readonly maxOutputBytes?: number;
  /** Names of further variables the command may see. @defaultValue none */
  readonly env?: readonly string[];
}

/** All a check sees of this process's environment. Secrets do not reach it. */
const ALLOWED = ['PATH', 'LANG', 'LC_ALL', 'TZ'] as const;

// What a shell reports for a command it cannot find or may not run.
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

type CheckRequest = Parameters<Checks['run']>[0];

/**
 * Judges a workspace by running its own tests as a command.
 *
 * The command gets an allow-listed environment, an empty HOME and a TMPDIR of its own (both removed
 * afterwards), a time limit that ends its whole process group, and an output cap. It is not sandboxed: it can
 * read what this user can read.
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

  constructor(options: CommandChecksOptions = {}) {
    const { argv = ['npm', 'test'], timeoutMs = 120_000, maxOutputBytes = 64 * 1024, env = [] } = options;
    if (argv.length === 0 || argv[0] === '')
      throw new TypeError('Expected argv to name a command, got none.');
    requirePositive('timeoutMs', timeoutMs);
    requirePositive('maxOutputBytes', maxOutputBytes);
    this.#argv = argv;
    this.#timeoutMs = timeoutMs;
    this.#maxOutputBytes = maxOutputBytes;
    this.#env = env;
  }

  /**
   * A command that is missing, fails or takes too long is a red check, not an error.
   *
   * @throws DevsError `WORKSPACE_FAILED` when `dir` is no folder.
   * @throws the signal's reason when aborted, once the command is gone.
   */
  async run({ dir, signal }: CheckRequest): Promise<CheckResult> {
    signal.throwIfAborted();
    await requireFolder(dir);
    const scratch = await mkdtemp(join(tmpdir(), 'devs-check-'));
    try {
      const result = await this.#execute({ dir, signal }, await this.#environment(scratch));
      signal.throwIfAborted();
      return result;
    } finally {
      await rm(scratch, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  async #execute({ dir, signal }: CheckRequest, env: Record<string, string>): Promise<CheckResult> {
    const output = new MaskedTail(this.#maxOutputBytes);
    const push = (chunk: Buffer): void => output.push(chunk);
    try {
      const end = await runProcess({
        argv: this.#argv,
        cwd: dir,
        env,
        timeoutMs: this.#timeoutMs,
        signal,
        onStdout: push,
        onStderr: push,
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

  async #environment(scratch: string): Promise<Record<string, string>> {
    const [home, temporary] = [join(scratch, 'home'), join(scratch, 'tmp')];
    await Promise.all([mkdir(home), mkdir(temporary)]);
    return {
      ...pickEnvironment([...ALLOWED, ...this.#env]),
      HOME: home,
      TMPDIR: temporary,
      CI: '1',
      NO_COLOR: '1',
      npm_config_update_notifier: 'false',
    };
  }
}

function requirePositive(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value > 0) return;
  throw new RangeError(`Expected ${name} to be a positive integer, got ${value}.`);
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
