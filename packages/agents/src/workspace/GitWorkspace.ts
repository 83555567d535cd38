import { existsSync } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type {
  Author,
  Checks,
  CommitRange,
  Driver,
  GitRecord,
  OpenOptions,
  RemovedWorkspace,
  RunWorkspace,
  Workspace,
} from '@devs/core';
import { CommitDiff } from './CommitDiff.ts';
import { createGitDir } from './createGitDir.ts';
import { textAt } from './filesAt.ts';
import { GitRepository } from './GitRepository.ts';
import { GitRunWorkspace, type GitRunWorkspaceOptions } from './GitRunWorkspace.ts';
import { GitTravel } from './GitTravel.ts';
import { hideFromStatus } from './hideFromStatus.ts';
import { isRepositoryUrl, MirroredRepository } from './MirroredRepository.ts';
import { makeFolder } from './makeFolder.ts';
import type { Preparation } from './PreparedFolder.ts';
import { relativePath } from './pathJail.ts';
import { type OpenFolder, RunFolders } from './RunFolders.ts';
import { GONE, type KeptRun, removeKeptRun } from './removeKeptRun.ts';
import { requireAuthor } from './requireAuthor.ts';
import { requireObjectId } from './requireCommitParts.ts';
import { SharedSetup, sweepSharedSetups } from './SharedSetup.ts';
import { TravellingRunWorkspace } from './TravellingRunWorkspace.ts';
import type { UnshownFile } from './UnshownFile.ts';
import { UserRepository } from './UserRepository.ts';
import { type FilteredFile, NOTHING_UNCOMMITTED, type UncommittedFiles } from './uncommittedFiles.ts';
import { refuseFiltered, type UncommittedChanges } from './uncommittedTree.ts';

export interface GitWorkspaceOptions {
  /** The project folder: workspaces are made in `.devs-work/`, their git dirs in `.devs/git/`. */
  readonly dir: string;
  /**
   * The repository to work for: its top folder. Runs begin at the commit that is checked out there, and their branch
   * is put there; nothing else of it is written. Or a URL, of `https`, `ssh`, `git` or `file`: runs begin at the branch that
   * its `HEAD` names, and theirs is pushed to it. @defaultValue none: runs begin empty
   */
  readonly repository?: string;
  /**
   * Whether programs of the user's own configuration of git answer for them where `repository` is a URL: credential
   * helpers, askpass, an ssh command. @defaultValue false: keys of ssh and its agent, and nothing that git would start
   */
  readonly credentials?: boolean;
  /**
   * Installs what the checks need: run in a new folder, and for a tree with other manifests or lockfiles. Checks see what
   * it leaves, and nothing else that git does not hold. @defaultValue nothing
   */
  readonly setup?: Checks;
  /**
   * What `setup` runs. Runs with the same one, the same manifests and lockfiles and the same Node share what it leaves:
   * it runs for the first of them. Runs of a repository only. @defaultValue every run has its own
   */
  readonly setupArgv?: readonly string[];
  /** Patterns of git for further files that setup reads: `schema/**`, or `**` for all. @defaultValue none */
  readonly setupInputs?: readonly string[];
  /**
   * Paths from the top of the folder where checks may keep things from one to the next: `target`, `node_modules/.cache`.
   * What a check finds there may be another check's. @defaultValue none
   */
  readonly caches?: readonly string[];
  /** Whose uncommitted changes runs begin with, as a commit of its own. @defaultValue nobody's */
  readonly withChanges?: UncommittedChanges;
  /** Time limit of one git command, ms; thirty times as much where it moves a whole repository. @defaultValue 60 000 */
  readonly timeoutMs?: number;
  /** Signs the tasks' commits as their author; the committer is `devs`. @defaultValue `devs <devs@localhost>` */
  readonly author?: Author;
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
  readonly #credentials: boolean;
  readonly #preparation: Preparation;
  readonly #timeoutMs: number | undefined;
  readonly #now: () => Date;
  readonly #withChanges: UncommittedChanges | null;
  readonly #author: Author | undefined;

  constructor(options: GitWorkspaceOptions) {
    const { dir, repository, setup = null, setupInputs: inputs = [], caches = [] } = options;
    const { timeoutMs, now = () => new Date() } = options;
    this.#dir = resolve(dir);
    this.#repository = repository ?? null;
    this.#credentials = options.credentials ?? false;
    const argv = options.setupArgv;
    const shared = argv === undefined ? null : new SharedSetup({ dir: this.#dir, argv });
    this.#preparation = { setup, inputs, caches: caches.map(relativePath), shared };
    this.#timeoutMs = timeoutMs;
    this.#now = now;
    requireCheckout(options);
    this.#withChanges = options.withChanges ?? null;
    if (options.author !== undefined) requireAuthor(options.author);
    this.#author = options.author;
  }

  /** A link to the newest folder of the run. @throws RangeError when the id cannot be a folder's name. */
  dirOf(threadId: string): string {
    return join(this.#dir, '.devs-work', requireFolderName(threadId));
  }

  /**
   * @throws DevsError `WORKSPACE_FAILED` for a repository, or changes of it, that a run cannot keep; `CONFIG_INVALID` when it
   *   is none.
   */
  async assertUsable(): Promise<void> {
    const user = await this.#user();
    await user?.assertStorable();
    if (user !== null && this.#withChanges !== null) refuseFiltered(await user.uncommitted());
  }

  /** Files of the repository's checkout that are not committed as they are; a run begins without them. */
  async uncommitted(): Promise<UncommittedFiles> {
    return (await (await this.#user())?.uncommitted()) ?? NOTHING_UNCOMMITTED;
  }

  /**
   * Files that git keeps through a filter, such as Git LFS: a run has what git keeps of them, its filters are not started.
   * None of a repository that is a URL: nobody works there.
   */
  async filtered(): Promise<readonly FilteredFile[]> {
    return (await (await this.#user())?.filtered()) ?? [];
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
   * What one commit of a run has changed, as {@link diff} takes it. Reads the run's git dir and nothing else.
   *
   * @throws RangeError for what is no id; DevsError `WORKSPACE_FAILED` when there is no such git dir or commit.
   */
  changeOf(threadId: string, commit: string): Promise<CommitRange> {
    return new CommitDiff({ gitDir: this.#gitDirOf(threadId) }).rangeOf(commit);
  }

  /**
   * The files that {@link diff} shows no line of, by path. Reads the run's git dir and nothing else.
   *
   * @throws DevsError `WORKSPACE_FAILED` when there is no such git dir or commit.
   */
  unshown(threadId: string, range: CommitRange): Promise<readonly UnshownFile[]> {
    return new CommitDiff({ gitDir: this.#gitDirOf(threadId) }).unshown(range);
  }

  /** A text file of a commit of a run; `null` where there is none. Reads the run's git dir and nothing else. */
  async readAt(threadId: string, tree: string, path: string): Promise<string | null> {
    requireObjectId('tree', tree);
    const gitDir = this.#gitDirOf(threadId);
    return textAt(new GitRepository({ gitDir, workTree: gitDir }), tree, path);
  }

  /**
   * @throws DevsError `LEASE_LOST` for a driver that was replaced; `WORKSPACE_FAILED` when the folder cannot be made, is a link, the repository has submodules or
   *   the setup failed; `CONFIG_INVALID` when `repository` is none.
   */
  async open(
    threadId: string,
    { signal = NEVER, driver, onActivity, record }: OpenOptions = {},
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
    record: GitRecord,
    { folder, user }: { readonly folder: OpenFolder; readonly user: UserRepository | null },
  ): GitTravel {
    const git = this.#storeOf(threadId, folder);
    const bringBase = user instanceof MirroredRepository ? bringFrom(user, git) : null;
    return new GitTravel({ git, record, bringBase });
  }

  /** The next driver goes on in the folder of this one, and needs no folder of its own. */
  async leave(threadId: string, driver: Driver): Promise<void> {
    await this.#foldersOf(threadId).leave(driver);
  }

  /**
   * Deletes the folders and the store of a run that nobody drives, and its branch in the repository if that is merged or,
   * with `force`, if it has no commits but the run's.
   *
   * @throws DevsError `REMOVE_REFUSED`, without `force`, for changes or commits that are nowhere else; nothing is deleted.
   */
  async remove(threadId: string, { force }: { readonly force: boolean }): Promise<RemovedWorkspace> {
    return removeKeptRun(await this.#keptRun(threadId), { force });
  }

  /** Deletes what was kept for other runs, unless that is touched now or is nowhere else. Returns how many bytes. */
  async sweep(threadIds: ReadonlySet<string>): Promise<number> {
    const stores = (await readdir(join(this.#dir, '.devs', 'git')).catch(() => [])).flatMap(storeOf);
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

/** @throws TypeError for changes of a checkout that there is none of. */
function requireCheckout({ repository, withChanges }: GitWorkspaceOptions): void {
  if (repository === undefined || withChanges === undefined || !isRepositoryUrl(repository)) return;
  throw new TypeError('`withChanges` cannot be combined with a URL.');
}

/** Beside the place that a run works in. */
interface RunBeside {
  readonly user: UserRepository | null;
  readonly onActivity?: OpenOptions['onActivity'] | undefined;
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

function storeOf(name: string): readonly { readonly id: string; readonly name: string }[] {
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
