import { readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CheckRequest,
  type CheckResult,
  type Checks,
  DevsError,
  maskSensitiveData,
  type TestCase,
} from '@devs/core';
import { assertPositiveInteger } from '../assertPositiveInteger.ts';
import { commandEnvironment } from '../process/commandEnvironment.ts';
import { MaskedTail } from '../process/MaskedTail.ts';
import { withNetworkSettings } from '../process/networkSettings.ts';
import { packageDownloads } from '../process/packageDownloads.ts';
import { type ProcessEnd, runProcess } from '../process/runProcess.ts';
import { type Scratch, withScratch } from '../process/scratch.ts';
import type { Sandbox } from '../sandbox/Sandbox.ts';
import { CaseReader, inWorkspace, readReport } from './cases/CaseReader.ts';

export interface CommandChecksOptions {
  /** Program and arguments, run without a shell. @defaultValue `['npm', 'test']` */
  readonly argv?: readonly string[];
  /** @defaultValue 120 000 */
  readonly timeoutMs?: number;
  /** Bytes of output kept, from its end. @defaultValue 64 KiB */
  readonly maxOutputBytes?: number;
  /** Names of more visible environment variables. @defaultValue none */
  readonly env?: readonly string[];
  /** More environment variables, with their values. @defaultValue none */
  readonly variables?: Readonly<Record<string, string>>;
  /** Sandbox of the command; `null` runs it with all rights of this user. @defaultValue `null` */
  readonly sandbox?: Sandbox | null;
  /**
   * Whether it can use the network, for example to install dependencies. Only a sandbox can block it. @defaultValue
   * `false`
   */
  readonly network?: boolean;
  /**
   * Whether it gets your proxy, certificate and registry settings: variables such as `HTTPS_PROXY`, copies of files such as
   * `~/.npmrc`. @defaultValue `false`
   */
  readonly networkSettings?: boolean;
  /** File with the command's test cases, relative to its folder: JUnit XML, or JSON of Vitest or Jest. */
  readonly report?: string;
}

// What a shell reports for a command it cannot find or may not run.
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

const MAX_REPORT_BYTES = 16 * 1024 * 1024;

/**
 * Judges a workspace by running its own tests as a command.
 *
 * The command gets an allow-listed environment, an empty HOME and its own TMPDIR (both removed afterwards), a time
 * limit that ends its whole process group, and an output cap. Without a sandbox it has this user's rights.
 *
 * @example
 * ```ts
 * const checks = new CommandChecks({ argv: ['npm', 'test'], timeoutMs: 60_000 });
 * const { passed, output } = await checks.run({ dir, signal });
 * ```
 */
export class CommandChecks implements Checks {
  readonly #options: CommandChecksOptions;
  readonly #argv: readonly string[];
  readonly #timeoutMs: number;
  readonly #maxOutputBytes: number;
  readonly #sandbox: Sandbox | null;
  readonly #network: boolean;
  readonly #report: string | null;

  constructor(options: CommandChecksOptions = {}) {
    const { argv = ['npm', 'test'], timeoutMs = 120_000, maxOutputBytes = 64 * 1024 } = options;
    const { sandbox = null, network = false, report = null } = options;
    if (argv.length === 0 || argv[0] === '') throw new TypeError('argv must name a command.');
    assertPositiveInteger('timeoutMs', timeoutMs);
    assertPositiveInteger('maxOutputBytes', maxOutputBytes);
    this.#options = options;
    this.#argv = argv;
    this.#timeoutMs = timeoutMs;
    this.#maxOutputBytes = maxOutputBytes;
    this.#sandbox = sandbox;
    this.#network = network;
    this.#report = report;
  }

  /**
   * Runs the command. A missing, failing or slow command is a failed check, not an error.
   *
   * @throws DevsError `WORKSPACE_FAILED` if `dir` is not a folder.
   * @throws the signal's reason if it is aborted, after the command has ended.
   */
  async run(request: CheckRequest): Promise<CheckResult> {
    const { dir, signal } = request;
    signal.throwIfAborted();
    await requireFolder(dir);
    const result = await withScratch('devs-check-', (scratch) => this.#execute(request, scratch));
    signal.throwIfAborted();
    return result;
  }

  /** Runs another command with the rights and limits of this one. */
  runCommand(argv: readonly string[], request: CheckRequest): Promise<CheckResult> {
    return new CommandChecks({ ...this.#options, argv }).run(request);
  }

  async #execute(request: CheckRequest, scratch: Scratch): Promise<CheckResult> {
    const { dir, root = dir, signal, onActivity } = request;
    const { dir: folder } = scratch;
    const isKept = this.#sandbox === null || this.#sandbox.hasWritable === true;
    const downloads = isKept ? request.downloads : undefined;
    const writable = downloads === undefined ? [] : [downloads];
    const place = { workspace: root, dir, scratch: folder, network: this.#network, writable };
    const output = new MaskedTail(this.#maxOutputBytes);
    const cases = new CaseReader();
    onActivity?.({ kind: 'doing', what: this.#command() });
    const pushTo = (stream: 'stdout' | 'stderr'): ((chunk: Buffer) => void) => {
      const decoder = new TextDecoder(); // a character may come in two chunks
      return (chunk) => {
        output.push(chunk);
        cases.push(chunk, stream);
        onActivity?.({ kind: 'output', text: decoder.decode(chunk, { stream: true }) });
      };
    };
    const begun = Date.now();
    const started = performance.now();
    try {
      const end = await runProcess({
        argv: [...(this.#sandbox?.prefix(place) ?? []), ...this.#argv],
        cwd: dir,
        env: { CI: '1', ...(await this.#environment(scratch, downloads)) },
        timeoutMs: this.#timeoutMs,
        signal,
        onStdout: pushTo('stdout'),
        onStderr: pushTo('stderr'),
      });
      const durationMs = Math.round(performance.now() - started);
      const told = (await this.#reported(dir, root, begun)) ?? cases.cases(await realpath(root));
      const limitMs = durationMs > this.#timeoutMs / 2 ? { limitMs: this.#timeoutMs } : {};
      return { ...this.#result(end, output.toString(), told), durationMs, ...limitMs };
    } catch (error) {
      return this.#notStarted(error as NodeJS.ErrnoException);
    }
  }

  async #environment(scratch: Scratch, downloads: string | undefined): Promise<Record<string, string>> {
    const { env: names = [], variables, networkSettings = false } = this.#options;
    const settings = networkSettings ? await withNetworkSettings(scratch) : {};
    const kept = downloads === undefined ? {} : packageDownloads(downloads);
    return commandEnvironment(scratch, { names, variables: { ...settings, ...kept, ...variables } });
  }

  /** A report of this run; what an earlier one left says nothing. */
  async #reported(dir: string, root: string, since: number): Promise<readonly TestCase[] | null> {
    if (this.#report === null) return null;
    const path = join(dir, this.#report);
    const { size = 0, mtimeMs = 0 } = (await stat(path).catch(() => null)) ?? {};
    if (size === 0 || size > MAX_REPORT_BYTES || mtimeMs < Math.floor(since / 1000) * 1000) return null;
    const cases = readReport(await readFile(path, 'utf8'));
    return cases && inWorkspace(cases, root);
  }

  /** Green is what the exit code and every case say. */
  #result(
    { exitCode, stoppedBy }: ProcessEnd,
    output: string,
    cases: readonly TestCase[] | null,
  ): CheckResult {
    const timedOut = stoppedBy === 'timeout';
    const missing = missingProgram(exitCode, output);
    const hasFailed = cases?.some(({ state }) => state === 'failed') ?? false;
    return {
      ...(cases !== null && { cases }),
      ...(missing !== null && { missing }),
      passed: exitCode === 0 && !timedOut && !hasFailed,
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
      ...(missing && { missing: this.#argv[0] ?? '' }),
    };
  }

  #command(): string {
    return maskSensitiveData(this.#argv.map(quoteArgument).join(' '));
  }
}

function quoteArgument(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`;
}

async function requireFolder(dir: string): Promise<void> {
  const found = await stat(dir).catch(() => null);
  if (found?.isDirectory()) return;
  throw new DevsError(`The folder to check does not exist: ${dir}`, {
    code: 'WORKSPACE_FAILED',
    remedy: 'Open the workspace of the run before its checks run.',
  });
}

const SAID = [
  /^(?:\/bin\/)?(?:sh|bash|dash|zsh|ash)(?:: (?:line )?\d+)?: ([^\s:]+): (?:command )?not found$/m,
  /^(?:zsh|sh): command not found: (\S+)$/m,
  /^(?:\/usr\/bin\/)?env: ['‘]?([^\s'’:]+)['’]?: No such file or directory$/m,
];
const BUBBLEWRAP = /^bwrap: execvp (\S+): No such file or directory$/m;

/** The program that a command did not find; `null` where it says nothing of the kind. */
export function missingProgram(exitCode: number | null, output: string): string | null {
  const sandboxed = BUBBLEWRAP.exec(output)?.[1];
  if (sandboxed !== undefined && exitCode !== 0) return sandboxed;
  if (exitCode !== NOT_FOUND) return null;
  return SAID.map((pattern) => pattern.exec(output)?.[1]).find((name) => name !== undefined) ?? null;
}
