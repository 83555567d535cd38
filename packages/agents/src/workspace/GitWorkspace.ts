import { lstat, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type Checks,
  type CommitRange,
  DevsError,
  type OpenOptions,
  type RunWorkspace,
  type Workspace,
} from '@devs/core';
import { CommitDiff } from './CommitDiff.ts';
import { createGitDir } from './createGitDir.ts';
import { GitRepository } from './GitRepository.ts';
import { GitRunWorkspace } from './GitRunWorkspace.ts';
import { hideFromStatus } from './hideFromStatus.ts';
import { prepareFolder } from './prepareFolder.ts';
import { UserRepository } from './UserRepository.ts';

export interface GitWorkspaceOptions {
  /** The project folder: workspaces are made in `.devs-work/`, their git dirs in `.devs/git/`. */
  readonly dir: string;
  /**
   * The repository to work for: its top folder. Runs begin at the commit that is checked out there, and their branch
   * is put there; nothing else of it is written. @defaultValue none: runs begin empty
   */
  readonly repository?: string;
  /** Installs what the checks need: run in a new folder, and when a lockfile changed. @defaultValue nothing */
  readonly setup?: Checks;
  /** Time limit of one git command, ms. @defaultValue 60 000 */
  readonly timeoutMs?: number;
  /** Dates the commits. @defaultValue the system clock */
  readonly now?: () => Date;
}

const NEVER: AbortSignal = new AbortController().signal;

/**
 * Gives every run a folder of its own with an engine-owned git store. It starts empty, or at the commit the user has
 * checked out, on a branch `devs/<run>`; the user's checkout is never touched.
 *
 * The git dir lies outside the folder, so nothing that an agent writes can configure the engine's git.
 *
 * @example
 * ```ts
 * const workspace = await new GitWorkspace({ dir: process.cwd() }).open('csv-export');
 * await workspace.apply([{ path: 'src/index.js', content: 'export {};\n' }]);
 * await workspace.commit({ tree: await workspace.snapshot(), message: 'Add the entry', stepKey: 'T1/1' });
 * ```
 */
export class GitWorkspace implements Workspace {
  readonly #dir: string;
  readonly #repository: string | null;
  readonly #setup: Checks | null;
  readonly #timeoutMs: number | undefined;
  readonly #now: () => Date;

  constructor({ dir, repository, setup, timeoutMs, now = () => new Date() }: GitWorkspaceOptions) {
    this.#dir = resolve(dir);
    this.#repository = repository ?? null;
    this.#setup = setup ?? null;
    this.#timeoutMs = timeoutMs;
    this.#now = now;
  }

  /** @throws RangeError when the id cannot be a folder's name. */
  dirOf(threadId: string): string {
    return join(this.#dir, '.devs-work', requireFolderName(threadId));
  }

  /** @throws DevsError `WORKSPACE_FAILED` for a repository that a run cannot keep; `CONFIG_INVALID` when it is none. */
  async assertUsable(): Promise<void> {
    if (this.#repository !== null) await (await UserRepository.at(this.#repository)).assertStorable();
  }

  /**
   * How two commits of a run differ, as `git diff` prints it. Reads the run's git dir and nothing else.
   *
   * @throws DevsError `WORKSPACE_FAILED` when there is no such git dir or commit.
   */
  diff(threadId: string, range: CommitRange): Promise<string> {
    return new CommitDiff({ gitDir: this.#gitDirOf(threadId) }).text(range);
  }

  /**
   * @throws DevsError `WORKSPACE_FAILED` when the folder cannot be made, is a link, the repository has submodules or
   *   the setup failed; `CONFIG_INVALID` when `repository` is none.
   */
  async open(threadId: string, { signal = NEVER }: OpenOptions = {}): Promise<RunWorkspace> {
    const workTree = this.dirOf(threadId);
    const gitDir = this.#gitDirOf(threadId);
    await makeFolder(workTree);
    await makeFolder(gitDir);
    const limit = this.#timeoutMs === undefined ? {} : { timeoutMs: this.#timeoutMs };
    const git = new GitRepository({ gitDir, workTree, ...limit });
    const branch = `devs/${threadId}`;
    const user = this.#repository === null ? null : await UserRepository.at(this.#repository);
    await hideFromStatus(join(this.#dir, '.devs'), join(this.#dir, '.devs-work'));
    await createGitDir(git, branch);
    const run = new GitRunWorkspace({ git, branch, user, now: this.#now });
    await run.begin();
    if (this.#setup !== null) await prepareFolder({ dir: workTree, gitDir, setup: this.#setup, signal });
    return run;
  }

  #gitDirOf(threadId: string): string {
    return join(this.#dir, '.devs', 'git', `${requireFolderName(threadId)}.git`);
  }
}

function requireFolderName(threadId: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,99}$/.test(threadId)) return threadId;
  const rule = '1 to 100 characters of a-z, 0-9 and "-", not starting with "-"';
  throw new RangeError(`Expected threadId to be ${rule}, got ${JSON.stringify(threadId)}.`);
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    if ((await lstat(path)).isDirectory()) return;
  } catch (error) {
    throw unusable(path, error);
  }
  throw unusable(path, undefined);
}

function unusable(path: string, cause: unknown): DevsError {
  return new DevsError(`${path} is not a usable folder.`, {
    code: 'WORKSPACE_FAILED',
    remedy: 'Remove what stands there or make its parent writable, then resume the run.',
    cause,
  });
}
