import { StringDecoder } from 'node:string_decoder';
import { DevsError, isDevsError } from '@devs/core';
import { MaskedTail } from '../process/MaskedTail.ts';
import { pickEnvironment } from '../process/pickEnvironment.ts';
import { type ProcessEnd, runProcess } from '../process/runProcess.ts';
import type { RefGuard } from './refs.ts';

const STDERR_BYTES = 4 * 1024;

/** What moves a whole repository takes as long as that is large. */
const LARGE = 30;

/** More than this from one git command is a mistake, not a listing. */
const MAX_STDOUT_BYTES = 64 * 1024 * 1024;

/**
 * Set on every command. The engine's git dir lies outside what agent commands write, so its config is ours; that of a
 * user's repository may be anybody's. With these settings neither starts a program. Attributes that would start one need
 * a driver in the config: the engine's has none, and nothing that is done with a user's repository asks for attributes.
 */
const SETTINGS: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'core.autocrlf=false',
  'core.safecrlf=false',
  'core.sshCommand=false',
  'core.pager=cat',
  // Asked by a fetch into a repository that shares the objects of another one.
  'core.alternateRefsCommand=true',
  'fetch.bundleURI=',
  'submodule.recurse=false',
  'commit.gpgSign=false',
  'log.showSignature=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'core.logAllRefUpdates=false',
  'core.filesRefLockTimeout=1000',
  // What `GitIndex` reads.
  'index.version=2',
  'index.skipHash=false',
  // As many processes write a tree as there are cores.
  'checkout.workers=0',
  // Law L4: a step is recorded in the state file with the id of its tree, and a task with its commit, so both
  // must be on disk before the row is. Git flushes packs and refs but not loose objects by default. The index
  // is left out: it is rebuilt from the folder each time.
  'core.fsync=objects,reference',
];

/** {@link SETTINGS} as arguments of git; none of them needs quotes in a shell. */
export const SET: readonly string[] = SETTINGS.flatMap((setting) => ['-c', setting]);

/** No config but ours. */
const OWN_CONFIG: Readonly<Record<string, string>> = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

const ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  // Objects that are missing are not fetched from where the config says.
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
};

/** What reaches a repository elsewhere as its user does: keys, helpers, proxies. Nothing of it comes from a run. */
const REACHING = [
  ...['HOME', 'USER', 'LOGNAME', 'XDG_CONFIG_HOME', 'SSH_AUTH_SOCK', 'SSH_ASKPASS', 'GIT_ASKPASS'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['all_proxy', 'GIT_SSL_CAINFO', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSH_COMMAND'],
];

export interface GitRepositoryOptions {
  /** Absolute; always named, never discovered. */
  readonly gitDir: string;
  /** Absolute. */
  readonly workTree: string;
  /** Per command, ms; {@link LARGE} times as much for one that moves all files or objects. @defaultValue 60 000 */
  readonly timeoutMs?: number;
  /** Refs are moved while it holds. @defaultValue always */
  readonly guard?: RefGuard;
}

export interface GitCall {
  readonly stdin?: string | Uint8Array;
  /** Absolute. Each operation has its own index, so a killed one leaves no lock that another one meets. */
  readonly indexFile?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Objects may come from another repository on this machine, named by its path. @defaultValue false */
  readonly fromPath?: boolean;
  /** Reaches a repository by its URL, with the user's own settings of git; its hooks do not run. @defaultValue false */
  readonly isRemote?: boolean;
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
  readonly #timeoutMs: number;

  constructor({ gitDir, workTree, timeoutMs = 60_000, guard }: GitRepositoryOptions) {
    this.gitDir = gitDir;
    this.workTree = workTree;
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

  async #execute(
    args: readonly string[],
    { stdin = '', indexFile, env = {}, fromPath = false, isRemote = false, ...call }: GitCall,
    onStdout: (chunk: Buffer) => void,
  ): Promise<void> {
    const { isLarge = false, answers = [0] } = call;
    const stderr = new MaskedTail(STDERR_BYTES);
    const end = await this.#spawn({
      argv: this.#argv(args),
      cwd: this.workTree,
      env: {
        ...(isRemote ? remoteEnvironment() : environment(fromPath)),
        ...env,
        ...(indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile }),
      },
      timeoutMs: this.#timeoutMs * (isLarge ? LARGE : 1),
      stdin,
      onStdout,
      onStderr: (chunk) => stderr.push(chunk),
    });
    if (end.exitCode === null || !answers.includes(end.exitCode))
      throw failed(args, ending(end), stderr.toString());
  }

  #argv(args: readonly string[]): readonly string[] {
    const places = [`--git-dir=${this.gitDir}`, `--work-tree=${this.workTree}`];
    return ['git', '--no-pager', ...places, ...SET, ...args];
  }

  async #spawn(request: Parameters<typeof runProcess>[0]): Promise<ProcessEnd> {
    try {
      return await runProcess(request);
    } catch (error) {
      if (isDevsError(error)) throw error;
      throw new DevsError(`git could not be started in ${this.workTree}: ${(error as Error).message}`, {
        code: 'WORKSPACE_FAILED',
        remedy: 'Install git 2.36 or newer, make sure that it is on PATH and that the folder exists.',
        cause: error,
      });
    }
  }
}

/** Protocols by the environment: what a config says about a single one is stronger than a setting for all of them. */
const environment = (fromPath: boolean): Record<string, string> => ({
  ...pickEnvironment(['PATH', 'TMPDIR']),
  ...ENVIRONMENT,
  ...OWN_CONFIG,
  GIT_ALLOW_PROTOCOL: fromPath ? 'file' : '',
});

const remoteEnvironment = (): Record<string, string> => ({
  GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
  ...pickEnvironment(['PATH', 'TMPDIR', ...REACHING]),
  ...ENVIRONMENT,
  GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
});

function ending({ exitCode, stoppedBy }: ProcessEnd): string {
  if (stoppedBy === 'timeout') return 'time limit';
  return exitCode === null ? 'ended by a signal' : `exit ${exitCode}`;
}

function failed(args: readonly string[], how: string, stderr: string): DevsError {
  const command = args[0] ?? '';
  return new DevsError(`git ${command} failed (${how}): ${stderr.trim()}`, {
    code: 'WORKSPACE_FAILED',
    remedy:
      'Read what git reported, repair the workspace (space, permissions, nested repositories), then resume.',
    context: { command },
  });
}
