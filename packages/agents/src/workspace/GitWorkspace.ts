import { lstat, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DevsError, type RunWorkspace, type Workspace } from '@devs/core';
import { createGitDir } from './createGitDir.ts';
import { GitRepository } from './GitRepository.ts';
import { GitRunWorkspace } from './GitRunWorkspace.ts';

export interface GitWorkspaceOptions {
  /** The project folder: workspaces are made in `.devs-work/`, their git dirs in `.devs/git/`. */
  readonly dir: string;
  /** Time limit of one git command, ms. @defaultValue 60 000 */
  readonly timeoutMs?: number;
  /** Dates the commits. @defaultValue the system clock */
  readonly now?: () => Date;
}

/**
 * Gives every run a folder of its own with an engine-owned git store. It starts empty on a branch
 * `devs/<run>`; the user's checkout is never touched.
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
  readonly #timeoutMs: number | undefined;
  readonly #now: () => Date;

  constructor({ dir, timeoutMs, now = () => new Date() }: GitWorkspaceOptions) {
    this.#dir = resolve(dir);
    this.#timeoutMs = timeoutMs;
    this.#now = now;
  }

  /** @throws RangeError when the id cannot be a folder's name. */
  dirOf(threadId: string): string {
    return join(this.#dir, '.devs-work', requireFolderName(threadId));
  }

  /** @throws DevsError `WORKSPACE_FAILED` when the folder cannot be made or is a link. */
  async open(threadId: string): Promise<RunWorkspace> {
    const workTree = this.dirOf(threadId);
    const gitDir = join(this.#dir, '.devs', 'git', `${threadId}.git`);
    await makeFolder(workTree);
    await makeFolder(gitDir);
    const limit = this.#timeoutMs === undefined ? {} : { timeoutMs: this.#timeoutMs };
    const git = new GitRepository({ gitDir, workTree, ...limit });
    const branch = `devs/${threadId}`;
    await createGitDir(git, branch);
    return new GitRunWorkspace({ git, branch, now: this.#now });
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
