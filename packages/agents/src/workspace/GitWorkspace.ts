import { existsSync } from 'node:fs';
import { lstat, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Checks, RunWorkspace, Workspace } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import type { CommitWishes } from './CommitCustoms.ts';
import { CommitDiff, type UnshownFile } from './CommitDiff.ts';
import { requireAuthor, requireObjectId } from './commits.ts';
import { createGitDir } from './createGitDir.ts';
import { hideFromStatus, makeFolder } from './engineFiles.ts';
import { GitRepository } from './GitRepository.ts';
import { GitRunWorkspace, type GitRunWorkspaceOptions } from './GitRunWorkspace.ts';
import { GitTravel, TravellingRunWorkspace } from './GitTravel.ts';
import { isRepositoryUrl, MirroredRepository, type MirrorOptions } from './MirroredRepository.ts';
import type { Preparation } from './PreparedFolder.ts';
import { relativePath } from './pathJail.ts';
import { type OpenFolder, RunFolders } from './RunFolders.ts';
import { BASE, readRef } from './refs.ts';
import { GONE, type KeptRun, removeKeptRun } from './removeKeptRun.ts';
import { SharedSetup, sweepSharedSetups } from './SharedSetup.ts';
import { textAt } from './trees.ts';
import { deliverBranch, PUSHED, UserRepository } from './UserRepository.ts';
import { type FilteredFile, NOTHING_UNCOMMITTED, type UncommittedFiles } from './uncommittedFiles.ts';
import { refuseFiltered, type UncommittedChanges } from './uncommittedTree.ts';
import { LFS } from './WorkFolder.ts';

export interface GitWorkspaceOptions {
  /** Project folder: workspaces are in `.devs-work/`, their git dirs in `.devs/git/`. */
  readonly dir: string;
  /**
   * Top folder of the repository to work for. Runs start at its checked-out commit, and their branch is put there; the
   * rest of it stays unchanged. Or a URL (`https`, `ssh`, `git`, `file`): runs start at the branch of its `HEAD`, and
   * their branch is pushed to it. @defaultValue runs start empty
   */
  readonly repository?: string;
  /**
   * Whether to use programs of the user's git configuration for a URL: credential helpers, askpass, an ssh command.
   * @defaultValue false: only ssh keys and the ssh agent
   */
  readonly credentials?: boolean;
  /**
   * Installs dependencies of the checks: runs in a new folder, and again for other manifests or lockfiles. Of the files
   * that git ignores, checks see only its results. @defaultValue none
   */
  readonly setup?: Checks;
  /**
   * Command of `setup`. Runs with the same command, manifests, lockfiles and Node share its results: it runs for the
   * first of them. Its package managers share their downloads, but for files that a run has changed. Only for runs of a
   * repository. @defaultValue each run has its own results
   */
  readonly setupArgv?: readonly string[];
  /** Git patterns of more files that setup reads: `schema/**`, or `**` for all. @defaultValue none */
  readonly setupInputs?: readonly string[];
  /** Paths that checks keep from one to the next: `target`, `node_modules/.cache`. Checks share them. @defaultValue none */
  readonly caches?: readonly string[];
  /** Uncommitted changes to start with, as their own commit. @defaultValue none */
  readonly withChanges?: UncommittedChanges;
  /** Longest git command, in milliseconds; thirty times as long for moving a whole repository. @defaultValue 60 000 */
  readonly timeoutMs?: number;
  /** Author of the tasks' commits; the committer is `devs`. @defaultValue `devs <devs@localhost>` */
  readonly author?: WorkspacePort.Author;
  /**
   * Sign the commits of tasks as the user's own git does, and run hooks of the repository with the checks. @defaultValue
   * neither
   */
  readonly commits?: CommitWishes;
  /** Dates of commits. @defaultValue the system clock */
  readonly now?: () => Date;
}

/** In the engine's folder of a project: downloads of package managers of setups. */
const DOWNLOADS = 'downloads';

const NEVER: AbortSignal = new AbortController().signal;

/**
 * One folder per run, with a git store that the engine owns. A run starts empty or at the user's checked-out commit, on
 * a branch `devs/<run>`. The user's checkout is not changed.
 *
 * The git dir is outside the folder, so agents cannot configure the engine's git.
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
  readonly #credentials: boolean;
  readonly #preparation: Preparation;
  readonly #timeoutMs: number | undefined;
  readonly #now: () => Date;
  readonly #withChanges: UncommittedChanges | null;
  readonly #author: WorkspacePort.Author | undefined;
  readonly #wishes: CommitWishes;

  constructor(options: GitWorkspaceOptions) {
    const { dir, repository, setup = null, setupInputs: inputs = [], caches = [] } = options;
    const { timeoutMs, now = () => new Date() } = options;
    this.#dir = resolve(dir);
    this.#repository = repository ?? null;
    this.#credentials = options.credentials ?? false;
    const argv = options.setupArgv;
    const shared = argv === undefined ? null : new SharedSetup({ dir: this.#dir, argv });
    const downloads = shared === null ? null : join(this.#dir, '.devs', DOWNLOADS);
    this.#preparation = { setup, inputs, caches: caches.map(relativePath), shared, downloads };
    this.#timeoutMs = timeoutMs;
    this.#now = now;
    requireCheckout(options);
    this.#withChanges = options.withChanges ?? null;
    if (options.author !== undefined) requireAuthor(options.author);
    this.#author = options.author;
    this.#wishes = options.commits ?? {};
  }

  /** Returns the path of a link to the run's newest folder. @throws RangeError if the id cannot name a folder. */
  dirOf(threadId: string): string {
    return join(this.#dir, '.devs-work', requireFolderName(threadId));
  }

  /**
   * @throws DevsError `WORKSPACE_FAILED` for an unusable repository, or unusable changes of it; `CONFIG_INVALID` if it
   *   is not a repository.
   */
  async assertUsable(): Promise<void> {
    const user = await this.#user();
    await user?.assertStorable();
    if (user !== null && this.#withChanges !== null) refuseFiltered(await user.uncommitted());
  }

  /** Returns uncommitted files of the checkout; a run starts without them. */
  async uncommitted(): Promise<UncommittedFiles> {
    return (await (await this.#user())?.uncommitted()) ?? NOTHING_UNCOMMITTED;
  }

  /**
   * Returns files with a git filter, such as Git LFS: a run has git's stored content, and filters are not started.
   * Empty for a URL.
   */
  async filtered(): Promise<readonly FilteredFile[]> {
    return (await (await this.#user())?.filtered()) ?? [];
  }

  /** Returns where each remote of the repository is pushed to, by its name. Empty without a repository. */
  async remotes(): Promise<ReadonlyMap<string, string>> {
    return (await (await this.#user())?.remotes()) ?? new Map();
  }

  /** Returns the newest commit on the branch of a run; `null` before the first one. Reads only its git dir. */
  async tip(threadId: string): Promise<string | null> {
    const gitDir = this.#gitDirOf(threadId);
    if (!existsSync(gitDir)) return null;
    const store = new GitRepository({ gitDir, workTree: gitDir });
    const tip = await readRef(store, `refs/heads/${branchOf(threadId)}`);
    return tip === (await readRef(store, BASE)) ? null : tip;
  }

  /**
   * Returns the branch of a run if the repository has all commits of the run on it. Returns `null` without commits, and
   * for a URL: the remote is not asked.
   */
  async deliveredBranch(threadId: string): Promise<string | null> {
    const tip = await this.tip(threadId);
    const user = tip === null ? null : await this.#user();
    if (tip === null || user === null) return null;
    const branch = branchOf(threadId);
    return (await user.hasOnBranch(branch, tip)) ? branch : null;
  }

  /**
   * Pushes the branch of a run to a URL. A branch there that has commits of others stays as it is: see `held`.
   *
   * @throws DevsError `WORKSPACE_FAILED` with the message of git; `CONFIG_INVALID` for a URL with a password.
   */
  async push(threadId: string, { commit, url, answering }: PushRequest): Promise<WorkspacePort.Delivery> {
    const gitDir = this.#gitDirOf(threadId);
    const remote = await MirroredRepository.of({
      url,
      dir: join(this.#dir, '.devs', 'remote.git'),
      credentials: this.#credentials,
      ...(answering && { answering }),
    });
    const store = new GitRepository({ gitDir, workTree: gitDir });
    return deliverBranch(store, remote, { branch: branchOf(threadId), commit }, PUSHED);
  }

  /**
   * Returns the diff of two commits of a run, as `git diff` prints it. Reads only the run's git dir.
   *
   * @throws DevsError `WORKSPACE_FAILED` for an unknown git dir or commit.
   */
  diff(threadId: string, range: WorkspacePort.CommitRange): Promise<string> {
    return new CommitDiff({ gitDir: this.#gitDirOf(threadId) }).text(range);
  }

  /**
   * Returns the range of one commit of a run for {@link diff}. Reads only the run's git dir.
   *
   * @throws RangeError for an invalid id; DevsError `WORKSPACE_FAILED` for an unknown git dir or commit.
   */
  changeOf(threadId: string, commit: string): Promise<WorkspacePort.CommitRange> {
    return new CommitDiff({ gitDir: this.#gitDirOf(threadId) }).rangeOf(commit);
  }

  /**
   * Returns the files that {@link diff} does not show as text, by path. Reads only the run's git dir.
   *
   * @throws DevsError `WORKSPACE_FAILED` for an unknown git dir or commit.
   */
  unshown(threadId: string, range: WorkspacePort.CommitRange): Promise<readonly UnshownFile[]> {
    return new CommitDiff({ gitDir: this.#gitDirOf(threadId) }).unshown(range);
  }

  /** Returns a text file of a run's commit, or `null`. Reads only the run's git dir. */
  async readAt(threadId: string, tree: string, path: string): Promise<string | null> {
    requireObjectId('tree', tree);
    const gitDir = this.#gitDirOf(threadId);
    return textAt(new GitRepository({ gitDir, workTree: gitDir }), tree, path);
  }

  /**
   * Creates or reopens the folder of a run.
   *
   * @throws DevsError `LEASE_LOST` for a process that was replaced; `WORKSPACE_FAILED` if the folder cannot be made or
   *   is a link, the repository has submodules, or the setup failed; `CONFIG_INVALID` if `repository` is not one.
   */
  async open(
    threadId: string,
    { signal = NEVER, driver, onActivity, record }: WorkspacePort.OpenOptions = {},
  ): Promise<RunWorkspace> {
    const link = this.dirOf(threadId);
    const gitDir = this.#gitDirOf(threadId);
    await makeFolder(dirname(link));
    await makeFolder(gitDir);
    await hideFromStatus(join(this.#dir, '.devs'), dirname(link));
    await createGitDir({ gitDir, link, branch: branchOf(threadId) });
    const folders = this.#foldersOf(threadId);
    const folder = await folders.open(driver ?? null);
    const user = await this.#user();
    const beside = { user, onActivity };
    const runIn = (at: WorkPlace): GitRunWorkspace =>
      this.#runIn({ ...at, guard: folder.guard }, threadId, beside);
    const travel = record === undefined ? null : this.#travelOf(threadId, record, { folder, user });
    const run = travel === null ? runIn(folder) : this.#travellingIn(folder, threadId, { ...beside, travel });
    await fill(run, folder, (await travel?.arrive())?.left ?? null);
    await run.begin();
    await run.runSetup(signal);
    if (driver !== undefined) await folders.sweep(folder, driver, (left) => runIn(left).keepChanges());
    if (run instanceof TravellingRunWorkspace) await run.depart();
    return run;
  }

  #travelOf(
    threadId: string,
    record: WorkspacePort.GitRecord,
    { folder, user }: { readonly folder: OpenFolder; readonly user: UserRepository | null },
  ): GitTravel {
    const git = this.#storeOf(threadId, folder);
    const bringBase = user instanceof MirroredRepository ? bringFrom(user, git) : null;
    return new GitTravel({ git, record, bringBase });
  }

  /** Releases the folder, so that the next process continues in it. */
  async leave(threadId: string, driver: WorkspacePort.Driver): Promise<void> {
    await this.#foldersOf(threadId).leave(driver);
  }

  /**
   * Deletes the folders and the store of a run, and its branch in the repository if it is merged or, with `force`,
   * contains only the run's commits.
   *
   * @throws DevsError `REMOVE_REFUSED`, without `force`, for changes or commits that exist only here; everything stays
   *   then.
   */
  async remove(
    threadId: string,
    { force }: { readonly force: boolean },
  ): Promise<WorkspacePort.RemovedWorkspace> {
    return removeKeptRun(await this.#keptRun(threadId), { force });
  }

  /** Deletes files of other runs, unless they are in use or exist only here. Returns the number of bytes. */
  async sweep(threadIds: ReadonlySet<string>): Promise<number> {
    const stores = (await readdir(join(this.#dir, '.devs', 'git')).catch(() => [])).flatMap(storedRunName);
    let bytes = 0;
    for (const { id, name } of stores.filter((each) => !threadIds.has(each.id))) {
      const store = join(this.#dir, '.devs', 'git', name);
      if (!(await isOld(store))) continue;
      const size = await bytesIn(store);
      const isRemoved = await removeKeptRun(await this.#keptRun(id), { force: false, keepBranch: true }).then(
        () => true,
        () => false,
      );
      if (isRemoved) bytes += size;
    }
    const isUsed = (await readdir(join(this.#dir, '.devs', 'git')).catch(() => [])).length > 0;
    for (const kept of isUsed ? [] : [LFS, DOWNLOADS].map((name) => join(this.#dir, '.devs', name))) {
      if (!existsSync(kept)) continue;
      bytes += await bytesIn(kept);
      await rm(kept, { recursive: true, force: true });
    }
    const setups = join(this.#dir, '.devs', 'setup');
    const size = existsSync(setups) ? await bytesIn(setups) : 0;
    await sweepSharedSetups(this.#dir);
    return bytes + size - (existsSync(setups) ? await bytesIn(setups) : 0);
  }

  async #keptRun(threadId: string): Promise<KeptRun> {
    const [folders, user] = [this.#foldersOf(threadId), await this.#user()];
    return {
      id: threadId,
      branch: branchOf(threadId),
      gitDir: this.#gitDirOf(threadId),
      folders,
      user,
      look: async () => this.#runIn(await folders.open(null), threadId, { user }),
    };
  }

  #runIn(at: GuardedPlace, threadId: string, beside: RunBeside): GitRunWorkspace {
    return new GitRunWorkspace(this.#optionsIn(at, threadId, beside));
  }

  #travellingIn(
    at: GuardedPlace,
    threadId: string,
    { travel, ...beside }: RunBeside & { readonly travel: GitTravel },
  ): TravellingRunWorkspace {
    return new TravellingRunWorkspace({ ...this.#optionsIn(at, threadId, beside), travel });
  }

  #optionsIn(at: GuardedPlace, threadId: string, { user, onActivity }: RunBeside): GitRunWorkspaceOptions {
    return {
      git: this.#storeOf(threadId, at),
      kept: at.kept,
      branch: branchOf(threadId),
      user,
      now: this.#now,
      preparation: { ...this.#preparation, ...(onActivity && { onActivity }) },
      withChanges: this.#withChanges,
      wishes: this.#wishes,
      ...(this.#author !== undefined && { author: this.#author }),
    };
  }

  #storeOf(threadId: string, { dir, guard }: Pick<OpenFolder, 'dir' | 'guard'>): GitRepository {
    const limit = this.#timeoutMs === undefined ? {} : { timeoutMs: this.#timeoutMs };
    return new GitRepository({ gitDir: this.#gitDirOf(threadId), workTree: dir, guard, ...limit });
  }

  #foldersOf(threadId: string): RunFolders {
    const [link, gitDir] = [this.dirOf(threadId), this.#gitDirOf(threadId)];
    return new RunFolders({ link, gitDir, timeoutMs: this.#timeoutMs });
  }

  async #user(): Promise<UserRepository | null> {
    if (this.#repository === null) return null;
    const own = join(this.#dir, '.devs');
    if (isRepositoryUrl(this.#repository)) {
      return MirroredRepository.of({
        url: this.#repository,
        dir: join(own, 'mirror.git'),
        credentials: this.#credentials,
      });
    }
    await makeFolder(own);
    await hideFromStatus(own);
    return UserRepository.at(this.#repository, join(own, 'lent'));
  }

  #gitDirOf(threadId: string): string {
    return join(this.#dir, '.devs', 'git', `${requireFolderName(threadId)}.git`);
  }
}

/** A commit and its destination. */
interface PushRequest extends Pick<MirrorOptions, 'url' | 'answering'> {
  /** On the branch of the run. */
  readonly commit: string;
}

/** @throws TypeError for changes of a checkout that there is none of. */
function requireCheckout({ repository, withChanges }: GitWorkspaceOptions): void {
  if (repository === undefined || withChanges === undefined || !isRepositoryUrl(repository)) return;
  throw new TypeError('`withChanges` cannot be combined with a URL.');
}

/** Beside the place that a run works in. */
interface RunBeside {
  readonly user: UserRepository | null;
  readonly onActivity?: WorkspacePort.OpenOptions['onActivity'] | undefined;
}

type WorkPlace = Pick<OpenFolder, 'dir' | 'kept'>;

type GuardedPlace = WorkPlace & Pick<OpenFolder, 'guard'>;

/** @param arrived - How a run that came from another machine left its folder there; `null` for one that is here. */
async function fill(run: GitRunWorkspace, folder: OpenFolder, arrived: string | null): Promise<void> {
  const { isNew, madeFrom } = folder;
  const source = madeFrom ?? (isNew ? folder.kept : null);
  if (arrived !== null) await run.takeUp(arrived, source !== null);
  else if (source !== null) await run.fill(source);
}

/** Brings a commit of the mirror into the store of a run. */
const bringFrom =
  (mirror: MirroredRepository, git: GitRepository) =>
  async (commit: string): Promise<void> => {
    await mirror.bring(commit);
    await mirror.giveTo(git, commit);
  };

const branchOf = (threadId: string): string => `devs/${threadId}`;

/** Milliseconds. A run that was just recorded may be on its way into a list that was read before. */
const OLD_MS = 3_600_000;

const isOld = async (dir: string): Promise<boolean> => Date.now() - (await stat(dir)).mtimeMs > OLD_MS;

function storedRunName(name: string): readonly { readonly id: string; readonly name: string }[] {
  const store = name.endsWith(GONE) ? name.slice(0, -GONE.length) : name;
  return store.endsWith('.git') ? [{ id: store.slice(0, -'.git'.length), name }] : [];
}

/** What is not freed with the folder, because another one has it too, does not count. */
async function bytesIn(dir: string): Promise<number> {
  const names = await readdir(dir, { recursive: true });
  const sizes = await Promise.all(
    names.map(async (name) => {
      const found = await lstat(join(dir, name));
      return found.isFile() && found.nlink > 1 ? 0 : found.size;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function requireFolderName(threadId: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,99}$/.test(threadId)) return threadId;
  const rule = '1 to 100 characters of a-z, 0-9 and "-", not starting with "-"';
  throw new RangeError(`Expected threadId to be ${rule}, got ${JSON.stringify(threadId)}.`);
}
