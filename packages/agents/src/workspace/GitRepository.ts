import { StringDecoder } from 'node:string_decoder';
import { DevsError, isDevsError } from '@devs/core';
import {
  type GitCommand,
  type GitPlace,
  type GitRequest,
  gitCommand,
  type UrlReach,
  urlRequest,
} from '../git/gitCommand.ts';
import { MaskedTail } from '../process/MaskedTail.ts';
import { type ProcessEnd, runProcess } from '../process/runProcess.ts';

const STDERR_BYTES = 4 * 1024;

/** What moves a whole repository takes as long as that is large. */
const LARGE = 30;

/** More than this from one git command is a mistake, not a listing. */
const MAX_STDOUT_BYTES = 64 * 1024 * 1024;

export interface GitRepositoryOptions extends GitPlace {
  /** Per command, ms; {@link LARGE} times as much for one that moves all files or objects. @defaultValue 60 000 */
  readonly timeoutMs?: number;
  /** Refs are moved while it holds. @defaultValue always */
  readonly guard?: RefGuard;
}

export interface GitCall extends Pick<GitRequest, 'env' | 'settings' | 'readsUser'> {
  readonly stdin?: string | Uint8Array;
  /** Absolute. Each operation has its own index, so a killed one leaves no lock that another one meets. */
  readonly indexFile?: string;
  /** Objects may come from another repository on this machine, named by its path. @defaultValue false */
  readonly fromPath?: boolean;
  /** Reaches a repository by its URL. @defaultValue none is reached */
  readonly reach?: UrlReach;
  /** Moves all files or objects of a repository. @defaultValue false */
  readonly isLarge?: boolean;
  /** Exit codes that are an answer. @defaultValue 0 alone */
  readonly answers?: readonly number[];
  /** Bytes of the output; what comes after them is dropped. @defaultValue more than 64 MiB is an error */
  readonly firstBytes?: number;
}

/** Runs git on one git dir and one work tree, by argument list, with a fixed configuration and environment. */
export class GitRepository {
  readonly gitDir: string;
  readonly workTree: string;
  readonly guard: RefGuard | null;
  /** By commit, as far as somebody has asked: a commit's tree never changes. */
  readonly trees: Map<string, string> = new Map();
  readonly #place: GitPlace;
  readonly #timeoutMs: number;

  constructor({ gitDir, workTree, commonDir, timeoutMs = 60_000, guard }: GitRepositoryOptions) {
    this.gitDir = gitDir;
    this.workTree = workTree;
    this.#place = { gitDir, workTree, commonDir };
    this.guard = guard ?? null;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * @returns what git wrote to its standard output, unchanged.
   * @throws DevsError `WORKSPACE_FAILED` with the masked end of git's error output.
   */
  async run(args: readonly string[], call: GitCall = {}): Promise<string> {
    return (await this.bytes(args, call)).toString('utf8');
  }

  /** {@link run} for what is no text. */
  async bytes(args: readonly string[], call: GitCall = {}): Promise<Buffer> {
    const { firstBytes } = call;
    const limit = firstBytes ?? MAX_STDOUT_BYTES;
    const stdout: Buffer[] = [];
    let bytes = 0;
    await this.#execute(args, call, (chunk) => {
      if (bytes < limit) stdout.push(chunk.subarray(0, limit - bytes));
      bytes += chunk.length;
    });
    if (firstBytes === undefined && bytes > limit) throw failed(args, 'too much output', '');
    return Buffer.concat(stdout);
  }

  /**
   * The first entry of a listing (`-z`) that is looked for; however long the listing is, no more of it is held than is read
   * at once.
   *
   * @throws DevsError `WORKSPACE_FAILED` as {@link run}.
   */
  async first(args: readonly string[], isIt: (entry: string) => boolean): Promise<string | null> {
    const decoder = new StringDecoder('utf8');
    let found: string | null = null;
    let rest = '';
    await this.#execute(args, {}, (chunk) => {
      const entries = (rest + decoder.write(chunk)).split('\0');
      rest = entries.pop() ?? '';
      found ??= entries.find(isIt) ?? null;
    });
    return found;
  }

  async #execute(args: readonly string[], call: GitCall, onStdout: (chunk: Buffer) => void): Promise<void> {
    const { stdin = '', isLarge = false, answers = [0] } = call;
    const stderr = new MaskedTail(STDERR_BYTES);
    const end = await this.#spawn({
      ...this.#commandOf(args, call),
      cwd: this.workTree,
      timeoutMs: this.#timeoutMs * (isLarge ? LARGE : 1),
      stdin,
      onStdout,
      onStderr: (chunk) => stderr.push(chunk),
    });
    if (end.exitCode === null || !answers.includes(end.exitCode))
      throw failed(args, ending(end), stderr.toString());
  }

  #commandOf(args: readonly string[], { fromPath = false, reach, indexFile, ...call }: GitCall): GitCommand {
    const reached = reach === undefined ? { protocols: fromPath ? 'file' : '' } : urlRequest(reach);
    const index = indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile };
    const { settings = [], readsUser = false, env } = call;
    const request = { place: this.#place, settings, readsUser, ...reached };
    return gitCommand(args, { ...request, env: { ...reached.env, ...env, ...index } });
  }

  async #spawn(request: Parameters<typeof runProcess>[0]): Promise<ProcessEnd> {
    try {
      return await runProcess(request);
    } catch (error) {
      if (isDevsError(error)) throw error;
      throw new DevsError(`git could not be started in ${this.workTree}: ${(error as Error).message}`, {
        code: 'WORKSPACE_FAILED',
        remedy: 'Install git 2.36 or newer, and check that it is on PATH and that the folder exists.',
        cause: error,
      });
    }
  }
}

function ending({ exitCode, stoppedBy }: ProcessEnd): string {
  if (stoppedBy === 'timeout') return 'time limit';
  return exitCode === null ? 'ended by a signal' : `exit ${exitCode}`;
}

const REPAIR =
  'Read the message of git, fix the workspace (space, permissions, nested repositories), then resume the run.';

const ASKED =
  'Allow git to use your credential helper: "git": { "credentials": true } in .devs/config.json, or `credentials` of GitWorkspace.';

function failed(args: readonly string[], how: string, stderr: string): DevsError {
  const command = args[0] ?? '';
  return new DevsError(`git ${command} failed (${how}): ${stderr.trim()}`, {
    code: 'WORKSPACE_FAILED',
    remedy: stderr.includes('terminal prompts disabled') ? ASKED : REPAIR,
    context: { command },
  });
}

/** Refs are moved while another one points to a value, and not after: read and written under its lock. */
export interface RefGuard {
  readonly name: string;
  /** `null`: it must not exist. */
  readonly value: string | null;
}

/** What git lists with `-z`. */
export const splitNul = (listed: string): readonly string[] =>
  listed.split('\0').filter((entry) => entry !== '');
