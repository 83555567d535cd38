import { copyFile, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DevsError, type FileEdit } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import { assertTracked } from './applyEdits.ts';
import { SCRATCH_PREFIX, writeGitPointer } from './createGitDir.ts';
import { GitIndex } from './GitIndex.ts';
import { type GitRepository, splitNul } from './GitRepository.ts';
import { LfsFiles, pointerIn } from './LfsFiles.ts';
import { EMPTY_TREE, moveRef, refsUnder, treeOf } from './refs.ts';
import { SubmoduleFiles } from './SubmoduleFiles.ts';
import type { UserRepository } from './UserRepository.ts';
import { hasUnlistedEntries } from './unlistedEntries.ts';
import { moveAway, refuseUnstorable } from './unstorableFiles.ts';

/**
 * In what is kept of a folder: the index of it as the engine left it. What it knows of the files lets git read those alone
 * that have changed since; see {@link GitIndex}.
 */
export const LEFT = 'left';

const RESCUED = 'refs/devs/rescued';

/** In the engine's folder of a project: contents of Git LFS that setups have fetched. */
export const LFS = 'lfs';

/** Excludes dependencies even when a workspace's own `.gitignore` asks for them. */
const ALL_BUT_DEPENDENCIES = [
  '--',
  '.',
  ':(exclude,glob)**/node_modules',
  ':(exclude,glob)**/node_modules/**',
] as const;

const CLEAN = ['clean', '-ffdq', '-e', 'node_modules'] as const;

export interface WorkFolderOptions {
  readonly git: GitRepository;
  /** Where the engine keeps what it knows of this folder, outside of it. */
  readonly kept: string;
  /** The commit the run's branch is at. */
  readonly tip: () => Promise<string | null>;
  /** Makes a commit without moving a branch. */
  readonly store: (tree: string, parent: string | null, message: string) => Promise<string>;
  /** Has files of submodules, and contents of Git LFS. @defaultValue without a repository */
  readonly user?: UserRepository | null;
}

/** Git trees, and how many files they differ in. */
export interface FolderChange {
  /** As the engine left the folder. */
  readonly left: string;
  /** As it is. */
  readonly found: string;
  readonly files: number;
}

/** The files of one run: as git trees, and back. What somebody else changed in between is kept before it is replaced. */
export class WorkFolder {
  readonly #git: GitRepository;
  readonly #tip: WorkFolderOptions['tip'];
  readonly #store: WorkFolderOptions['store'];
  readonly #left: string;
  readonly #lfs: LfsFiles;
  readonly #submodules: SubmoduleFiles;

  constructor({ git, kept, tip, store, user }: WorkFolderOptions) {
    this.#git = git;
    const contents = join(dirname(dirname(git.gitDir)), LFS);
    this.#lfs = new LfsFiles({ git, kept: contents, lent: user?.lfsFolder });
    this.#submodules = new SubmoduleFiles({ dir: git.workTree, kept, user });
    this.#tip = tip;
    this.#store = store;
    this.#left = join(kept, LEFT);
  }

  /** Files that are not ignored, sorted, relative. */
  list(): Promise<readonly string[]> {
    return this.withIndex(async (indexFile) => {
      await this.#add(indexFile);
      const { repositories, files } = await GitIndex.read(indexFile);
      const paths = files.map(({ path }) => path);
      return [...paths, ...(await this.#submodules.paths(repositories))].toSorted();
    });
  }

  /** @throws DevsError `PATH_REFUSED` for edits that {@link snapshot} would not hold. */
  async refuseUnheld(edits: readonly FileEdit[]): Promise<void> {
    await this.withIndex((indexFile) =>
      assertTracked({ git: this.#git, indexFile, edits, readTip: () => this.#readTip(indexFile) }),
    );
    const paths = edits.map(({ path }) => path);
    const written = edits.filter(({ content }) => content !== null && pointerIn(content) === null);
    const found = await this.#withLeft(async (_, index) => {
      const links = [...index.repositories.keys()];
      const guarded = await this.#lfs.guarded(index, async () => written.map(({ path }) => path));
      return {
        inside: paths.filter((path) => links.some((link) => `${path}/`.startsWith(`${link}/`))),
        guarded,
      };
    });
    refuseUnstorable(found);
  }

  /**
   * The tree of every file that is not ignored; from here on the folder counts as left like this.
   *
   * @throws DevsError `PATH_REFUSED` for changed files that a tree must not hold as they are. They were moved away by then, and the
   *   folder has the versions of the branch.
   */
  snapshot(): Promise<string> {
    return this.withIndex(async (indexFile) => {
      const { ctimeMs } = await stat(dirname(indexFile));
      await this.#refuseForeign(indexFile, await this.#addAll(indexFile));
      const tree = await this.#writeTree(indexFile);
      await this.#keep(indexFile, ctimeMs);
      return tree;
    });
  }

  /** The tree of the folder as the engine left it; of the branch, where that is not known. */
  async left(): Promise<string> {
    const noted = (await this.#known())?.tree ?? null;
    return noted ?? this.#withLeft((indexFile) => this.#writeTree(indexFile));
  }

  /** Files of the tree that the engine left in the folder, and of its submodules. */
  async held(): Promise<readonly string[]> {
    const known = (await this.#known()) ?? (await this.#withLeft(async (_, index) => index));
    const files = known.files.map(({ path }) => path);
    return [...files, ...(await this.#submodules.paths(known.repositories))];
  }

  /** What {@link held} has under patterns of git: names and contents, as one text. */
  leftEntries(patterns: readonly string[]): Promise<string> {
    return this.#withLeft((indexFile) => this.#entries(indexFile, patterns));
  }

  /** The same of the branch. */
  committedEntries(patterns: readonly string[]): Promise<string> {
    return this.withIndex(async (indexFile) => {
      await this.#readTip(indexFile);
      return this.#entries(indexFile, patterns);
    });
  }

  /**
   * Fills a new folder with what the engine left in another one, or in this one before it was removed; else with what
   * is in the branch.
   *
   * @param kept - What the engine keeps of that folder.
   */
  async fill(kept: string): Promise<void> {
    const tree = (await this.#treeOf(join(kept, LEFT))) ?? (await this.#tipTree());
    if (tree !== null) await this.checkOut(tree);
  }

  /** Keeps what somebody changed since the engine left the folder; `null` when nothing. */
  async keepChanges(): Promise<WorkspacePort.Rescue | null> {
    const changed = await this.#changed();
    return changed.length === 0 ? null : this.#rescue(await this.left(), changed);
  }

  /** What a person changed since the engine left the folder; `null` when nothing. */
  async changes(): Promise<FolderChange | null> {
    if ((await this.#changed()).length === 0) return null;
    const left = await this.left();
    const found = await this.withIndex(async (indexFile) => {
      await this.#addAll(indexFile);
      return this.#writeTree(indexFile);
    });
    const files = (await this.differing(left, found)).length;
    return files === 0 ? null : { left, found, files };
  }

  /** Makes those files of the folder as the tree has them that `isDue` is true for. Keeps nothing of them. */
  putBack(tree: string, isDue: (path: string) => boolean): Promise<void> {
    return this.withIndex(async (indexFile) => {
      await this.#withLeft((_, { repositories }) => this.#submodules.put(repositories));
      await this.#addAll(indexFile);
      const due = (await this.differing(tree, await this.#writeTree(indexFile))).filter(isDue);
      if (due.length === 0) return;
      await this.#git.run(['read-tree', tree], { indexFile });
      for (const path of due) await rm(join(this.#git.workTree, path), { recursive: true, force: true });
      const known = new Set(splitNul(await this.#git.run(['ls-files', '-z'], { indexFile })));
      const stdin = due.flatMap((path) => (known.has(path) ? [`${path}\0`] : [])).join('');
      await this.#git.run(['checkout-index', '--force', '-z', '--stdin'], { indexFile, stdin });
    });
  }

  /** The filters that the attributes of the folder name for some paths, by path. */
  filters(paths: () => Promise<readonly string[]>): Promise<ReadonlyMap<string, string>> {
    return this.#withLeft((_, index) => this.#lfs.filters(index, paths));
  }

  /** Makes the folder equal to the tree; first keeps what differs from how the engine left it. */
  async restore(tree: string): Promise<WorkspacePort.Rescue | null> {
    const changed = await this.#changed();
    const rescue = changed.length === 0 ? null : await this.#rescue(tree, changed);
    if (changed.length > 0 || !(await this.#isLeftAs(tree))) await this.checkOut(tree);
    return rescue;
  }

  /** {@link restore} after a command of the engine's own: what it left is not kept. */
  async discard(tree: string): Promise<void> {
    if ((await this.#changed()).length > 0) await this.checkOut(tree);
  }

  /** Writes the tree's files and deletes what is neither in it nor ignored by it. Keeps nothing. */
  checkOut(tree: string): Promise<void> {
    return this.withIndex(async (indexFile) => {
      const isNew = (await readdir(this.#git.workTree)).every((name) => name === '.git');
      await this.#readKnown(indexFile, tree);
      await this.#git.run(['checkout-index', '--all', '--force', '--index'], { indexFile, isLarge: true });
      const { mtimeMs } = await stat(indexFile);
      const index = await GitIndex.read(indexFile);
      await this.#submodules.put(index.repositories);
      await this.#lfs.fill(indexFile, index);
      await this.#lfs.acknowledge(indexFile, index);
      if (!isNew) await this.#clean(indexFile);
      await this.#keep(indexFile, mtimeMs);
    });
  }

  /** Ignore files that are not in the tree go first, or they would keep themselves and others. */
  async #clean(indexFile: string): Promise<void> {
    await this.#git.run([...CLEAN, '-x', '--', ':(glob)**/.gitignore'], { indexFile });
    await this.#git.run(CLEAN, { indexFile });
  }

  /** Lets the user's own `git log` and `git status` work in the folder. */
  showCommit(commit: string): Promise<void> {
    return this.withIndex(async (indexFile) => {
      await this.#readKnown(indexFile, await treeOf(this.#git, commit));
      await rename(indexFile, join(this.#git.gitDir, 'index'));
      await writeGitPointer(this.#git, dirname(indexFile));
    });
  }

  /** Paths that differ from how the engine left the folder; one that ends in `/` is a repository of its own. */
  #changed(): Promise<readonly string[]> {
    const others = ['--modified', '--others', '--exclude-standard', ...ALL_BUT_DEPENDENCIES];
    return this.#withLeft(async (indexFile, { repositories }) => {
      const listed = splitNul(await this.#git.run(['ls-files', '-z', ...others], { indexFile }));
      return [...listed, ...(await this.#submodules.changed(repositories))];
    });
  }

  async #rescue(tree: string, changed: readonly string[]): Promise<WorkspacePort.Rescue | null> {
    const name = String((await refsUnder(this.#git, RESCUED)).length + 1);
    const repositories = [
      ...changed.filter((path) => path.endsWith('/')),
      ...(await this.changedInside()).filter((path) => !path.endsWith('/')),
    ];
    const at = join(this.#git.gitDir, 'devs-rescued', name);
    const moved = (await moveAway(repositories, { from: this.#git.workTree, to: at })).map(
      (path) => `\nMoved: ${path}`,
    );
    // New ignore rules go with the restore, and with them what only they protect.
    const force = changed.some((path) => basename(path) === '.gitignore') ? ['--force'] : [];
    const found = await this.withIndex(async (indexFile) => {
      await this.#addAll(indexFile, force);
      return this.#writeTree(indexFile);
    });
    const files = (await this.differing(tree, found)).length + repositories.length;
    if (files === 0) return null;
    const message = `Files found in the folder of the run\n${moved.join('')}`;
    const commit = await this.#store(found, await this.#tip(), message);
    const ref = `${RESCUED}/${name}`;
    await moveRef(this.#git, ref, { from: null, to: commit });
    return { ref, commit, files };
  }

  /** Files in which two trees differ. */
  async differing(before: string, after: string): Promise<readonly string[]> {
    return splitNul(
      await this.#git.run(['diff-tree', '-r', '-z', '--name-only', '--no-renames', before, after]),
    );
  }

  #entries(indexFile: string, patterns: readonly string[]): Promise<string> {
    return this.#git.run(['ls-files', '-z', '--stage', '--', ...patterns], { indexFile });
  }

  /**
   * Works on a copy of the index of the folder as it was left. Where that cache, which git does not flush, is gone or
   * damaged, on an index of the branch.
   */
  #withLeft<T>(work: (indexFile: string, index: GitIndex) => Promise<T>): Promise<T> {
    return this.withIndex(async (indexFile) => {
      const workOn = async (): Promise<T> => {
        const index = await GitIndex.read(indexFile);
        await this.#lfs.acknowledge(indexFile, index);
        return work(indexFile, index);
      };
      try {
        await copyFile(this.#left, indexFile);
        return await workOn();
      } catch {
        await this.#readTip(indexFile);
        return workOn();
      }
    });
  }

  /** `null` for an index that is not there, or damaged: a cache that git does not flush. */
  #treeOf(index: string): Promise<string | null> {
    return this.withIndex(async (indexFile) => {
      try {
        await copyFile(index, indexFile);
        return await this.#writeTree(indexFile);
      } catch {
        return null;
      }
    });
  }

  async #writeTree(indexFile: string): Promise<string> {
    const noted = await GitIndex.read(indexFile).then(
      ({ tree }) => tree,
      () => null,
    );
    return noted ?? (await this.#git.run(['write-tree'], { indexFile })).trim();
  }

  /** Every file of the folder. What is in the branch stays known even where it is ignored. */
  async #addAll(indexFile: string, force: readonly string[] = []): Promise<GitIndex> {
    const known = (await this.#add(indexFile, force)).repositories;
    const index = await GitIndex.read(indexFile);
    const found = index.repositories;
    refuseNested([...found].find(([path, id]) => known.get(path) !== id)?.[0]);
    const gone = [...known].filter(([path]) => !found.has(path));
    if (gone.length === 0) return index;
    const stdin = gone.map(([path, id]) => `160000 ${id}\t${path}\0`).join('');
    await this.#git.run(['update-index', '--replace', '-z', '--index-info'], { indexFile, stdin });
    return GitIndex.read(indexFile);
  }

  /** @returns the index of the branch. */
  async #add(indexFile: string, force: readonly string[] = []): Promise<GitIndex> {
    const tip = (await this.#tipTree()) ?? EMPTY_TREE;
    const before = await this.#readKnown(indexFile, tip);
    await this.#git.run(['add', '--all', ...force, ...ALL_BUT_DEPENDENCIES], { indexFile, isLarge: true });
    const after = await GitIndex.read(indexFile);
    // Git forgets the tree of a file that it has read again, whatever it has found.
    if (after.tree === null && before.tree !== null && after.hasFilesOf(before))
      await after.writeWithTreeOf(indexFile, before);
    return before;
  }

  /** Moves files that a tree must not hold out of the folder, and puts the versions of the branch in their place. */
  async #refuseForeign(indexFile: string, index: GitIndex): Promise<void> {
    const links = index.repositories;
    const inside = await this.#submodules.changed(links);
    const tip = (await this.#tipTree()) ?? EMPTY_TREE;
    const guarded = await this.#lfs.guarded(index, async () => {
      const args = ['diff-index', '--cached', '-z', '--name-only', '--no-renames', '--diff-filter=AMT', tip];
      const changed = splitNul(await this.#git.run(args, { indexFile }));
      const isPointer = await Promise.all(changed.map((path) => this.#lfs.isPointer(path)));
      return changed.filter((_, at) => !isPointer[at]);
    });
    const paths = [...inside, ...guarded.keys()];
    if (paths.length === 0) return;
    const rescued = join(this.#git.gitDir, 'devs-rescued');
    await mkdir(rescued, { recursive: true });
    const moved = await mkdtemp(join(rescued, 'refused-'));
    await moveAway(paths, { from: this.#git.workTree, to: moved });
    await this.#submodules.put(links);
    await this.#putFromTip([...guarded.keys()]);
    refuseUnstorable({ inside, guarded, moved });
  }

  #putFromTip(paths: readonly string[]): Promise<void> {
    return this.withIndex(async (indexFile) => {
      await this.#readTip(indexFile);
      const index = await GitIndex.read(indexFile);
      const known = new Set(index.files.map(({ path }) => path));
      const stdin = paths.flatMap((path) => (known.has(path) ? [`${path}\0`] : [])).join('');
      await this.#git.run(['checkout-index', '--force', '-z', '--stdin'], { indexFile, stdin });
      await this.#lfs.fill(indexFile, index);
    });
  }

  /** Files of submodules that somebody changed. */
  changedInside(): Promise<readonly string[]> {
    return this.#withLeft((_, { repositories }) => this.#submodules.changed(repositories));
  }

  async #tipTree(): Promise<string | null> {
    const tip = await this.#tip();
    return tip === null ? null : treeOf(this.#git, tip);
  }

  /** The kept index; `null` where it is gone or damaged: a cache that git does not flush. */
  #known(): Promise<GitIndex | null> {
    return GitIndex.read(this.#left).catch(() => null);
  }

  /** Whether the engine left the folder as this tree, and nothing is in it that git does not list. */
  async #isLeftAs(tree: string): Promise<boolean> {
    const known = await this.#known();
    return known?.tree === tree && !(await hasUnlistedEntries(this.#git.workTree, known.paths));
  }

  /** The index of a tree, with what is known of the files that are in the folder as it has them. */
  async #readKnown(indexFile: string, tree: string): Promise<GitIndex> {
    let index: GitIndex | null = null;
    try {
      await copyFile(this.#left, indexFile);
      const left = await GitIndex.read(indexFile);
      if (left.tree === tree) index = left;
      else await this.#git.run(['read-tree', '-i', '-m', tree], { indexFile });
    } catch {
      await this.#git.run(['read-tree', tree === EMPTY_TREE ? '--empty' : tree], { indexFile });
    }
    index ??= await GitIndex.read(indexFile);
    await this.#lfs.acknowledge(indexFile, index);
    return index;
  }

  /** @param sinceMs - From when on files may have changed unseen, on the clock of the file system. */
  async #keep(indexFile: string, sinceMs: number): Promise<void> {
    await (await GitIndex.read(indexFile)).writeWithoutYoung(indexFile, Math.floor(sinceMs / 1000));
    await rename(indexFile, this.#left);
  }

  async #readTip(indexFile: string): Promise<void> {
    await this.#git.run(['read-tree', (await this.#tip()) ?? '--empty'], { indexFile });
  }

  /** Lends the path of an index that nobody else uses; it is removed afterwards. */
  async withIndex<T>(work: (indexFile: string) => Promise<T>): Promise<T> {
    const scratch = await mkdtemp(join(this.#git.gitDir, SCRATCH_PREFIX));
    try {
      return await work(join(scratch, 'index'));
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
}

function refuseNested(path: string | null | undefined): void {
  if (path === null || path === undefined) return;
  throw new DevsError(`The workspace contains another git repository: ${JSON.stringify(path)}.`, {
    code: 'WORKSPACE_FAILED',
    remedy: 'Remove the .git folder inside it, so that its files can be stored.',
  });
}
