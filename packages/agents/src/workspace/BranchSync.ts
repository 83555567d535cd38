import { DevsError } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import { DEVS, FOUND_TRAILER, foundTree, signedAt, signedBy } from './commits.ts';
import type { GitRepository } from './GitRepository.ts';
import { BASE, EMPTY_TREE, HEAD, moveRef, moveRefs, readRef, refsUnder, treeOf } from './refs.ts';
import { mergeTrees, namedFiles, type TreesToMerge } from './trees.ts';
import { submodulesIn, type UserRepository } from './UserRepository.ts';
import type { WorkFolder } from './WorkFolder.ts';

/** Tips of the branch before each sync. */
const BEFORE = 'refs/devs/before-sync';

/** There while the branch has moved and the folder has not followed yet. */
const UNFOLDED = 'refs/devs/unfolded';

/** What a sync did to the branch. */
export type SyncedBranch = Omit<WorkspacePort.Synced, 'moved'>;

export interface BranchSyncOptions {
  readonly git: GitRepository;
  /** The run's branch. */
  readonly ref: string;
  readonly folder: WorkFolder;
  readonly user: UserRepository;
}

/** Carries a run over to the commits the user has made since. All of it happens in the engine's git dir. */
export class BranchSync {
  readonly #git: GitRepository;
  readonly #ref: string;
  readonly #folder: WorkFolder;
  readonly #user: UserRepository;

  constructor({ git, ref, folder, user }: BranchSyncOptions) {
    this.#git = git;
    this.#ref = ref;
    this.#folder = folder;
    this.#user = user;
  }

  /** Everything is computed first; then all refs move at once, and the folder follows. */
  async toHead(): Promise<SyncedBranch | null> {
    const onto = await this.#fetchHead();
    const base = await readRef(this.#git, BASE);
    if (onto === null || onto === base) return null;
    await this.#user.submodules(await submodulesIn(this.#git, onto));
    if ((await this.#folder.changes()) !== null) throw unadopted();
    const tip = await readRef(this.#git, this.#ref);
    const commits = await this.#commits(base, tip);
    const found = await this.#folder.snapshot();
    const moved = await this.#carryOver(commits, onto, found);
    const folder = await this.#merge({
      base: await this.#treeOf(tip),
      ours: await treeOf(this.#git, moved),
      theirs: found,
    });
    const before = await this.#move({ base, onto, tip, moved, folder });
    await this.finish();
    return { base: onto, commits: commits.length, before };
  }

  /** The sync the branch stands on. */
  async last(): Promise<SyncedBranch> {
    const base = await readRef(this.#git, BASE);
    const commits = await this.#commits(base, await readRef(this.#git, this.#ref));
    const count = (await refsUnder(this.#git, BEFORE)).length;
    return { base: base ?? '', commits: commits.length, before: count === 0 ? null : `${BEFORE}/${count}` };
  }

  /** Lets the folder follow a branch that has moved; also after a kill in between. */
  async finish(): Promise<void> {
    const due = await readRef(this.#git, UNFOLDED);
    if (due === null) return;
    await this.#folder.restore(await treeOf(this.#git, due));
    const tip = await readRef(this.#git, this.#ref);
    if (tip !== null) await this.#folder.showCommit(tip);
    await moveRef(this.#git, UNFOLDED, { from: due, to: null });
  }

  async #fetchHead(): Promise<string | null> {
    if ((await this.#user.head()) === null) return null;
    await this.#user.giveTo(this.#git, `+HEAD:${HEAD}`);
    return readRef(this.#git, HEAD);
  }

  /** The run's own, oldest first. */
  async #commits(base: string | null, tip: string | null): Promise<readonly string[]> {
    if (tip === null) return [];
    const range = base === null ? [tip] : [tip, `^${base}`];
    const listed = await this.#git.run(['rev-list', '--reverse', '--topo-order', ...range, '--']);
    return listed.split('\n').filter((line) => line !== '');
  }

  /** @param found - Tree of the folder. */
  async #carryOver(commits: readonly string[], onto: string, found: string): Promise<string> {
    let at = onto;
    for (const commit of commits) {
      const tree = await this.#merge({
        base: await this.#treeOf(await this.#parentOf(commit)),
        ours: await treeOf(this.#git, at),
        theirs: await treeOf(this.#git, commit),
      });
      at = await this.#again(commit, { tree, parent: at, found });
    }
    return at;
  }

  /** The same commit, author and dates included, with another tree on another parent; one that names the folder names what it will be. */
  async #again(commit: string, { tree, parent, found }: ReplayTarget): Promise<string> {
    const format = '--format=%an%n%ae%n%at%n%cn%n%ce%n%ct%n%B';
    const [an = '', ae = '', at = '', cn = '', ce = '', ct = '', ...message] = (
      await this.#git.run(['log', '-1', format, commit, '--'])
    ).split('\n');
    const env = {
      GIT_AUTHOR_NAME: an,
      GIT_AUTHOR_EMAIL: ae,
      GIT_AUTHOR_DATE: `@${at} +0000`,
      GIT_COMMITTER_NAME: cn,
      GIT_COMMITTER_EMAIL: ce,
      GIT_COMMITTER_DATE: `@${ct} +0000`,
    };
    const text = message.join('\n').trimEnd().split('\n');
    if (foundTree(text) === found) {
      const trees = { base: await treeOf(this.#git, commit), ours: tree, theirs: found };
      text.splice(-2, 1, `${FOUND_TRAILER}${await this.#merge(trees)}`);
    }
    const stdin = `${text.join('\n')}\n`;
    return (await this.#git.run(['commit-tree', tree, '-p', parent, '-F', '-'], { env, stdin })).trim();
  }

  async #merge(trees: TreesToMerge): Promise<string> {
    const merged = await mergeTrees(this.#git, trees);
    if ('tree' in merged) return merged.tree;
    throw syncConflict(merged.conflicts);
  }

  async #move(to: CarriedChanges): Promise<string | null> {
    const { base, onto, tip, moved, folder } = to;
    const before = tip === null ? null : `${BEFORE}/${(await refsUnder(this.#git, BEFORE)).length + 1}`;
    const env = { ...signedBy(DEVS), ...signedAt(new Date(0)) };
    const due = await this.#git.run(['commit-tree', folder, '-p', moved, '-m', 'The folder'], { env });
    await moveRefs(this.#git, [
      { name: this.#ref, from: tip, to: moved },
      { name: BASE, from: base, to: onto },
      { name: UNFOLDED, from: null, to: due.trim() },
      ...(before === null || tip === null ? [] : [{ name: before, from: null, to: tip }]),
    ]);
    return before;
  }

  async #parentOf(commit: string): Promise<string | null> {
    const [, parent = null] = (await this.#git.run(['rev-list', '--parents', '-1', commit, '--']))
      .trim()
      .split(' ');
    return parent;
  }

  async #treeOf(commit: string | null): Promise<string> {
    return commit === null ? EMPTY_TREE : treeOf(this.#git, commit);
  }
}

/** Where a commit is made again. */
interface ReplayTarget {
  readonly tree: string;
  readonly parent: string;
  /** Tree of the folder, before the sync. */
  readonly found: string;
}

interface CarriedChanges {
  readonly base: string | null;
  readonly onto: string;
  readonly tip: string | null;
  readonly moved: string;
  /** Tree of the folder. */
  readonly folder: string;
}

function syncConflict(files: readonly string[]): DevsError {
  return new DevsError(`Your commits conflict with commits of the run in ${namedFiles(files)}.`, {
    code: 'SYNC_CONFLICT',
    remedy: 'Let the run end, then merge its branch yourself. Nothing was changed.',
    context: { files: files.length },
  });
}

const unadopted = (): DevsError =>
  new DevsError("The run's folder has uncommitted changes made by hand.", {
    code: 'WORKSPACE_DIRTY',
    remedy: 'Commit them with devs adopt, or undo them.',
  });

export const withoutRepository = (): DevsError =>
  new DevsError('The run has no repository, so there are no commits to sync.', {
    code: 'CONFIG_INVALID',
    remedy: 'Start the run in the top folder of a repository.',
  });
