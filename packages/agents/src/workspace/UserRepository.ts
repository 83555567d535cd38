import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DevsError } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import { fetchFrom } from '../git/gitCommand.ts';
import { GitRepository } from './GitRepository.ts';
import { askForRef, moveRef, NO_OBJECT, readRef } from './refs.ts';
import {
  type FilteredFile,
  filteredFiles,
  NOTHING_UNCOMMITTED,
  type UncommittedFiles,
  uncommittedFiles,
} from './uncommittedFiles.ts';
import {
  checkoutSettings,
  repositorySettings,
  type UserGitDir,
  userGitDir,
  withCommonDir,
} from './userGitDir.ts';

/** A branch of an engine-owned repository, on its way into the user's. */
export interface BranchToDeliver {
  /** The engine's git dir. */
  readonly from: string;
  readonly branch: string;
  readonly commit: string;
  /** What an earlier delivery left there; `null` before one. */
  readonly delivered: string | null;
}

/** A submodule of the user's, checked out in the user's own clone. */
export interface Submodule {
  /** From the top of the outermost repository. */
  readonly path: string;
  readonly commit: string;
  readonly repository: UserRepository;
}

/** The user's repository while the engine has something to do with it. */
export interface LentRepository {
  readonly git: GitRepository;
  /** What git takes its configuration from. */
  readonly commonDir: string;
}

/**
 * The repository the user works in. Commits are read from it and one branch is put into it; its checkout, index, stashes and
 * other branches are never written. None of its hooks runs, and git reads none of its configuration but as data.
 */
export class UserRepository {
  readonly root: string;
  readonly #gitDir: UserGitDir;
  readonly #scratch: string;

  protected constructor(root: string, gitDir: UserGitDir, scratch: string) {
    this.root = root;
    this.#gitDir = gitDir;
    this.#scratch = scratch;
  }

  /**
   * @param root - The top folder of a checkout: where its `.git` is.
   * @param scratch - A folder of the engine's, see {@link withCommonDir}.
   * @throws DevsError `CONFIG_INVALID` when it is none.
   */
  static async at(root: string, scratch: string): Promise<UserRepository> {
    const top = resolve(root);
    const gitDir = await userGitDir(top);
    if (gitDir === null) throw notARepository(top);
    return new UserRepository(top, gitDir, scratch);
  }

  /** What people know it by. */
  get name(): string {
    return this.root;
  }

  /** Lends it to what is done there; see {@link withCommonDir}. */
  protected lend<T>(work: (lent: LentRepository) => Promise<T>): Promise<T> {
    const { own } = this.#gitDir;
    return withCommonDir(this.#gitDir, this.#scratch, (commonDir) =>
      work({ git: new GitRepository({ gitDir: own, workTree: this.root, commonDir }), commonDir }),
    );
  }

  /** The commit that is checked out; `null` before the first one. */
  head(): Promise<string | null> {
    return this.lend(({ git }) => userHead(git));
  }

  /** The folder of its hooks, read as data. */
  hooksFolder(): Promise<string | null> {
    return this.lend(async ({ git }) => {
      const settings = await repositorySettings(git, this.#gitDir);
      const named = settings.get('core.hookspath');
      return named === undefined ? join(this.#gitDir.common, 'hooks') : resolve(this.root, named);
    });
  }

  /** Where each of its remotes is pushed to, by name: read as data, with a URL for a folder. */
  remotes(): Promise<ReadonlyMap<string, string>> {
    return this.lend(async ({ git }) => pushUrls(await repositorySettings(git, this.#gitDir), this.root));
  }

  /** The folder of its objects; `null` for a shallow clone, which has not all of them. */
  async wholeObjects(): Promise<string | null> {
    const { common } = this.#gitDir;
    return existsSync(join(common, 'shallow')) ? null : join(common, 'objects');
  }

  /** Brings what a refspec names into a store of the engine's, with all that it reaches. */
  async giveTo(store: GitRepository, refspec: string): Promise<void> {
    await this.lend(({ git: { gitDir }, commonDir }) =>
      store.run(fetchFrom({ gitDir, commonDir }, refspec), { fromPath: true, isLarge: true }),
    );
  }

  /** How the checkout differs from its commit; not at all before the first one. */
  uncommitted(): Promise<UncommittedFiles> {
    return this.lend(async ({ git }) => {
      if ((await userHead(git)) === null) return NOTHING_UNCOMMITTED;
      return uncommittedFiles(git, await checkoutSettings(git, this.#gitDir));
    });
  }

  /** Files of the checkout that git keeps through a filter: a run has what git keeps. */
  filtered(): Promise<readonly FilteredFile[]> {
    return this.lend(({ git }) => filteredFiles(git));
  }

  /**
   * Runs something with git as it is in the checkout, which stores new objects in a store of the engine's: line ends and
   * encodings are as the user has them.
   */
  intoStore<T>(
    { gitDir }: Pick<GitRepository, 'gitDir'>,
    work: (run: RunInCheckout) => Promise<T>,
  ): Promise<T> {
    return this.lend(async ({ git }) => {
      const settings = await checkoutSettings(git, this.#gitDir);
      const env = { GIT_OBJECT_DIRECTORY: join(gitDir, 'objects') };
      return work((args, call) => git.run(args, { ...call, settings, env }));
    });
  }

  /**
   * @throws DevsError `WORKSPACE_FAILED` when a run's git dir cannot take in the checked-out commit, or the branch of a run
   *   cannot be put there.
   */
  assertStorable(): Promise<void> {
    return this.lend(async ({ git }) => {
      refuseUnknown(await repositorySettings(git, this.#gitDir));
      if ((await askForRef(git, IN_THE_WAY)) !== null) throw branchInTheWay();
      const head = await userHead(git);
      if (head !== null) await this.submodules(await submodulesIn(git, head));
    });
  }

  /**
   * Submodules as they are checked out here, with those in them; an outer one comes first. Git does not fetch.
   *
   * @param links - The commit of each, by path.
   * @throws DevsError `WORKSPACE_FAILED` with the command to type if a commit is not here.
   */
  async submodules(links: ReadonlyMap<string, string>): Promise<readonly Submodule[]> {
    const found: Submodule[] = [];
    for (const [path, commit] of links) {
      const top = join(this.root, path);
      const gitDir = await userGitDir(top);
      const repository = gitDir === null ? null : new UserRepository(top, gitDir, this.#scratch);
      const inner = await repository?.inFolder(top, (git) => submodulesIn(git, commit)).catch(() => null);
      if (repository === null || inner == null) throw notCheckedOut(path, this);
      found.push({ path, commit, repository });
      for (const each of await repository.submodules(inner))
        found.push({ ...each, path: `${path}/${each.path}` });
    }
    return found;
  }

  /** Runs git on the objects of this repository and the files of another folder, with an index of that one's. */
  inFolder<T>(workTree: string, work: (git: GitRepository) => Promise<T>): Promise<T> {
    return this.lend(({ git: { gitDir }, commonDir }) =>
      work(new GitRepository({ gitDir, workTree, commonDir })),
    );
  }

  /** Where its Git LFS keeps contents by default. */
  get lfsFolder(): string {
    return join(this.#gitDir.common, 'lfs', 'objects');
  }

  /**
   * Puts a branch there, in one step. A branch that is checked out or holds commits of the user's stays as it is.
   */
  deliver({ from, branch, commit, delivered }: BranchToDeliver): Promise<WorkspacePort.Delivery> {
    const name = `refs/heads/${branch}`;
    return this.lend(async ({ git }) => {
      const there = await askForRef(git, name);
      if (there === commit) return { branch, commit, held: null };
      if (await isCheckedOut(git, name)) return { branch, commit, held: 'checked_out' };
      await git.run(fetchFrom({ gitDir: from }, name), { fromPath: true });
      const isOurs = there === null || there === delivered || (await isAncestor(git, there, commit));
      if (!isOurs) return { branch, commit, held: 'changed' };
      await git.run(['update-ref', name, commit, there ?? NO_OBJECT]);
      return { branch, commit, held: null };
    });
  }

  /** Whether a commit is in a branch, or in what is checked out. */
  holds(branch: string, commit: string): Promise<boolean> {
    return this.lend(async ({ git }) => {
      const there = await askForRef(git, `refs/heads/${branch}`);
      const heads = [there, await userHead(git)].filter((head) => head !== null);
      const found = await Promise.all(heads.map((head) => isAncestor(git, commit, head)));
      return found.includes(true);
    });
  }

  /** Whether a commit is in a branch. */
  hasOnBranch(branch: string, commit: string): Promise<boolean> {
    return this.lend(async ({ git }) => {
      const there = await askForRef(git, `refs/heads/${branch}`);
      return there !== null && isAncestor(git, commit, there);
    });
  }

  /**
   * Removes a branch that is merged into what is checked out; with `force`, also one that has no commits but a run's, up
   * to `tip`. `null` where there is no such branch.
   */
  removeBranch({
    branch,
    tip,
    force,
  }: {
    readonly branch: string;
    readonly tip: string;
    readonly force: boolean;
  }): Promise<{ readonly name: string; readonly removed: boolean } | null> {
    const name = `refs/heads/${branch}`;
    return this.lend(async ({ git }) => {
      const [there, head] = [await askForRef(git, name), await userHead(git)];
      if (there === null) return null;
      const isMerged = head !== null && (await isAncestor(git, there, head));
      const isOurs = await isAncestor(git, there, tip);
      const removed = (isMerged || (force && isOurs)) && !(await isCheckedOut(git, name));
      if (removed) await git.run(['update-ref', '-d', name, there]);
      return { name: branch, removed };
    });
  }
}

/** Git cannot have a branch `devs/RUN` beside one of this name. */
const IN_THE_WAY = 'refs/heads/devs';

const branchInTheWay = (): DevsError =>
  new DevsError('The repository has a branch named devs, which is in the way of the branch devs/RUN.', {
    code: 'WORKSPACE_FAILED',
    remedy: 'Rename it, for example with `git branch -m devs devs-old`, then start the run again.',
  });

/** Runs git in the user's checkout, with an index of its own. */
export type RunInCheckout = (
  args: readonly string[],
  call: { readonly indexFile: string; readonly stdin?: string },
) => Promise<string>;

async function userHead(git: GitRepository): Promise<string | null> {
  const found = await git.run(['rev-parse', '--quiet', '--verify', 'HEAD^{commit}']).catch(() => '');
  return found.trim() || null;
}

async function isCheckedOut(git: GitRepository, name: string): Promise<boolean> {
  const listed = await git.run(['worktree', 'list', '--porcelain']);
  return listed.split('\n').includes(`branch ${name}`);
}

/** Whether a commit is another one, or in its history. */
export async function isAncestor(git: GitRepository, older: string, newer: string): Promise<boolean> {
  if (older === newer) return true;
  return (await git.run(['merge-base', older, newer]).catch(() => '')).trim() === older;
}

function notARepository(root: string): DevsError {
  return new DevsError(`${root} is not the top folder of a git repository.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Use the folder that contains .git, or run `git init` and commit there first.',
    context: { root },
  });
}

/** What a repository may say of how it is kept; git knows more from release to release. */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  ...[
    'noop',
    'noop-v1',
    'objectformat',
    'partialclone',
    'preciousobjects',
    'refstorage',
    'relativeworktrees',
  ],
  ...['submodulepathconfig', 'worktreeconfig'],
]);

/** @throws DevsError `WORKSPACE_FAILED` for objects that a run does not store, and for what nobody here has heard of. */
function refuseUnknown(settings: ReadonlyMap<string, string>): void {
  const format = settings.get('extensions.objectformat')?.toLowerCase() ?? 'sha1';
  if (format !== 'sha1') throw otherObjects(format);
  const names = [...settings.keys()].filter((name) => name.startsWith('extensions.'));
  const unknown = names.find((name) => !KNOWN_EXTENSIONS.has(name.slice('extensions.'.length)));
  if (unknown === undefined) return;
  throw new DevsError(`The repository uses an unsupported git extension: ${unknown}.`, {
    code: 'WORKSPACE_FAILED',
    remedy: 'Use a clone without that extension, or a newer version of devs.',
    context: { extension: unknown },
  });
}

function otherObjects(format: string): DevsError {
  return new DevsError(`The repository uses ${format} object names, and a run needs sha1.`, {
    code: 'WORKSPACE_FAILED',
    remedy: 'Use a repository created with `git init --object-format=sha1`.',
    context: { format },
  });
}

function pushUrls(settings: ReadonlyMap<string, string>, root: string): ReadonlyMap<string, string> {
  const named = [...settings].flatMap(([key, value]) => {
    const [, name, kind] = /^remote\.(.+)\.(url|pushurl)$/s.exec(key) ?? [];
    return name === undefined ? [] : [{ name, kind, url: urlOf(value, root) }];
  });
  // The second kind is where it is pushed to, if that is another place.
  const ordered = named.toSorted((a, b) => Number(a.kind === 'pushurl') - Number(b.kind === 'pushurl'));
  return new Map(ordered.map(({ name, url }) => [name, url]));
}

/** A remote is a URL, `host:path` of ssh, or a folder. */
const urlOf = (value: string, root: string): string =>
  /^(?:[a-z][a-z0-9+.-]*:\/\/|[^/]+:)/i.test(value) ? value : pathToFileURL(resolve(root, value)).href;

/** What the user's repository was given last. */
const DELIVERED = 'refs/devs/delivered';

/** The last commit that was pushed by request. */
export const PUSHED = 'refs/devs/pushed';

/**
 * Puts a branch of the engine's store into the user's repository, and keeps the given commit.
 *
 * @param kept - The ref that keeps it.
 */
export async function deliverBranch(
  git: GitRepository,
  user: UserRepository,
  { branch, commit }: Pick<BranchToDeliver, 'branch' | 'commit'>,
  kept: string = DELIVERED,
): Promise<WorkspacePort.Delivery> {
  const delivered = await readRef(git, kept);
  const delivery = await user.deliver({ from: git.gitDir, branch, commit, delivered });
  if (delivery.held === null && delivered !== commit) {
    await moveRef(git, kept, { from: delivered, to: commit });
  }
  return delivery;
}

/**
 * The submodules of a commit: the recorded commit of each, by path.
 *
 * @param git - Has the commit.
 */
export async function submodulesIn(git: GitRepository, commit: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  await git.first(['ls-tree', '-r', '-z', commit], (entry) => {
    const [, id = '', path = ''] = /^160000 commit ([0-9a-f]{40})\t(.*)$/s.exec(entry) ?? [];
    if (path !== '') found.set(path, id);
    return false;
  });
  return found;
}

function notCheckedOut(path: string, { root, name }: Pick<UserRepository, 'root' | 'name'>): DevsError {
  const quoted = JSON.stringify(path);
  const remedy =
    root === name
      ? `Run \`git submodule update --init --recursive -- ${quoted}\` in ${root}, then start again.`
      : 'Use a checkout of the repository, with its submodules, instead of a URL.';
  return new DevsError(`The submodule ${quoted} has not the files of its recorded commit in ${name}.`, {
    code: 'WORKSPACE_FAILED',
    remedy,
    context: { path },
  });
}
