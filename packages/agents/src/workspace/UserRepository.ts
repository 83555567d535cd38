import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Delivery, DevsError } from '@devs/core';
import { GitRepository, SET } from './GitRepository.ts';
import { refuseSubmodules } from './nestedRepositories.ts';
import { askForRef, moveRef, NO_OBJECT, readRef } from './refs.ts';

/** A branch of an engine-owned repository, on its way into the user's. */
export interface BranchToDeliver {
  /** The engine's git dir. */
  readonly from: string;
  readonly branch: string;
  readonly commit: string;
  /** What an earlier delivery left there; `null` before one. */
  readonly delivered: string | null;
}

/**
 * The repository the user works in. Commits are read from it and one branch is put into it; its checkout, index,
 * stashes and other branches are never written, and none of its hooks runs.
 */
export class UserRepository {
  readonly root: string;
  readonly #git: GitRepository;

  protected constructor(root: string, gitDir: string) {
    this.root = root;
    this.#git = new GitRepository({ gitDir, workTree: root });
  }

  /**
   * @param root - The top folder of a checkout: where its `.git` is.
   * @throws DevsError `CONFIG_INVALID` when it is none.
   */
  static async at(root: string): Promise<UserRepository> {
    const top = resolve(root);
    const gitDir = await gitDirOf(top);
    if (gitDir === null) throw notARepository(top);
    return new UserRepository(top, gitDir);
  }

  /** What people know it by. */
  get name(): string {
    return this.root;
  }

  /** The commit that is checked out; `null` before the first one. */
  async head(): Promise<string | null> {
    const found = await this.#git.run(['rev-parse', '--quiet', '--verify', 'HEAD^{commit}']).catch(() => '');
    return found.trim() || null;
  }

  /** The folder of its objects; `null` for a shallow clone, which has not all of them. */
  async wholeObjects(): Promise<string | null> {
    const { gitDir } = this.#git;
    const common = await readFile(join(gitDir, 'commondir'), 'utf8').catch(() => '.');
    const shared = resolve(gitDir, common.trimEnd());
    return existsSync(join(shared, 'shallow')) ? null : join(shared, 'objects');
  }

  /** Paths whose files differ from the commit that is checked out, untracked ones too; none before the first commit. */
  async uncommitted(): Promise<readonly string[]> {
    if ((await this.head()) === null) return [];
    const listed = await Promise.all([
      this.#git.run([
        'diff-index',
        '-z',
        '--name-only',
        '--no-renames',
        '--ignore-submodules=all',
        'HEAD',
        '--',
      ]),
      this.#git.run(['ls-files', '-z', '--others', '--exclude-standard']),
    ]);
    const paths = listed
      .flatMap((text) => text.split('\0'))
      .filter((path) => path !== '' && !path.endsWith('/'));
    return [...new Set(paths)].toSorted();
  }

  /** @throws DevsError `WORKSPACE_FAILED` when a run's git dir cannot take in the commit that is checked out. */
  async assertStorable(): Promise<void> {
    const format = (await this.#git.run(['rev-parse', '--show-object-format'])).trim();
    if (format !== 'sha1') throw otherObjects(format);
    const head = await this.head();
    if (head !== null) await refuseSubmodules(this.#git, head);
  }

  /**
   * Puts a branch there, in one step. A branch that is checked out or holds commits of the user's stays as it is.
   */
  async deliver({ from, branch, commit, delivered }: BranchToDeliver): Promise<Delivery> {
    const name = `refs/heads/${branch}`;
    const there = await askForRef(this.#git, name);
    if (there === commit) return { branch, commit, held: null };
    if (await this.#isCheckedOut(name)) return { branch, commit, held: 'checked_out' };
    await this.#git.run([...FETCH, from, name], { fromPath: true });
    const isOurs = there === null || there === delivered || (await this.#isAncestor(there, commit));
    if (!isOurs) return { branch, commit, held: 'changed' };
    await this.#git.run(['update-ref', name, commit, there ?? NO_OBJECT]);
    return { branch, commit, held: null };
  }

  /** Whether a commit is in a branch, or in what is checked out. */
  async holds(branch: string, commit: string): Promise<boolean> {
    const there = await askForRef(this.#git, `refs/heads/${branch}`);
    const heads = [there, await this.head()].filter((head) => head !== null);
    const found = await Promise.all(
      heads.map(async (head) => head === commit || (await this.#isAncestor(commit, head))),
    );
    return found.includes(true);
  }

  /**
   * Removes a branch that is merged into what is checked out; with `force`, also one that has no commits but a run's, up
   * to `tip`. `null` where there is no such branch.
   */
  async removeBranch({
    branch,
    tip,
    force,
  }: {
    readonly branch: string;
    readonly tip: string;
    readonly force: boolean;
  }): Promise<{ readonly name: string; readonly removed: boolean } | null> {
    const name = `refs/heads/${branch}`;
    const [there, head] = [await askForRef(this.#git, name), await this.head()];
    if (there === null) return null;
    const isMerged = head !== null && (head === there || (await this.#isAncestor(there, head)));
    const isOurs = there === tip || (await this.#isAncestor(there, tip));
    const removed = (isMerged || (force && isOurs)) && !(await this.#isCheckedOut(name));
    if (removed) await this.#git.run(['update-ref', '-d', name, there]);
    return { name: branch, removed };
  }

  async #isCheckedOut(name: string): Promise<boolean> {
    const listed = await this.#git.run(['worktree', 'list', '--porcelain']);
    return listed.split('\n').includes(`branch ${name}`);
  }

  async #isAncestor(older: string, newer: string): Promise<boolean> {
    return (await this.#git.run(['merge-base', older, newer]).catch(() => '')).trim() === older;
  }
}

/**
 * Brings objects of another repository, and no ref, tag or record of the visit. The program at the other end is named: it
 * would not get our settings, and the config may name another one.
 */
export const FETCH: readonly string[] = [
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--update-shallow',
  `--upload-pack=${['git', ...SET, 'upload-pack'].join(' ')}`,
];

/** A linked worktree has a file that names its git dir. */
async function gitDirOf(root: string): Promise<string | null> {
  const dotGit = join(root, '.git');
  const found = await stat(dotGit).catch(() => null);
  if (found === null) return null;
  if (found.isDirectory()) return dotGit;
  const [, named] = /^gitdir: (.+)$/m.exec(await readFile(dotGit, 'utf8')) ?? [];
  return named === undefined ? null : resolve(root, named);
}

function notARepository(root: string): DevsError {
  return new DevsError(`${root} is not the top folder of a git repository.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Name the folder that holds .git, or run `git init` and commit there first.',
    context: { root },
  });
}

function otherObjects(format: string): DevsError {
  return new DevsError(`The repository names its objects by ${format}, and a run by sha1.`, {
    code: 'WORKSPACE_FAILED',
    remedy: 'Run in a repository that was made with `git init --object-format=sha1`.',
    context: { format },
  });
}

/** What the user's repository was given last. */
const DELIVERED = 'refs/devs/delivered';

/** Puts a branch of the engine's store into the user's repository, and keeps what was given. */
export async function deliverBranch(
  git: GitRepository,
  user: UserRepository,
  { branch, commit }: Pick<BranchToDeliver, 'branch' | 'commit'>,
): Promise<Delivery> {
  const delivered = await readRef(git, DELIVERED);
  const delivery = await user.deliver({ from: git.gitDir, branch, commit, delivered });
  if (delivery.held === null && delivered !== commit) {
    await moveRef(git, DELIVERED, { from: delivered, to: commit });
  }
  return delivery;
}
