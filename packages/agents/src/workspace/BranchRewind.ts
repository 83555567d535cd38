import { DevsError } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import { type BranchCommit, branchHistory, type StepCommits } from './commits.ts';
import type { GitRepository } from './GitRepository.ts';
import { EMPTY_TREE, moveRefs, type RefMove, readRef, treeOf } from './refs.ts';
import { mergeTrees, namedFiles } from './trees.ts';
import type { WorkFolder } from './WorkFolder.ts';

/** The folder as it was before each move. */
const KEPT = 'refs/devs/before-rewind';

export interface BranchRewindOptions {
  readonly git: GitRepository;
  /** The run's branch. */
  readonly ref: string;
  readonly steps: StepCommits;
  readonly folder: WorkFolder;
  /** Makes a commit without moving a branch. */
  readonly store: (tree: string, parent: string | null, message: string) => Promise<string>;
}

/**
 * Takes the work of some commits out of a run's branch, and back in: by a commit on top, so that nothing is lost and the
 * branch only moves forward. Trees are computed in the git dir; {@link follow} alone changes anything.
 */
export class BranchRewind {
  readonly #git: GitRepository;
  readonly #ref: string;
  readonly #steps: StepCommits;
  readonly #folder: WorkFolder;
  readonly #store: BranchRewindOptions['store'];

  constructor({ git, ref, steps, folder, store }: BranchRewindOptions) {
    this.#git = git;
    this.#ref = ref;
    this.#steps = steps;
    this.#folder = folder;
    this.#store = store;
  }

  async withdraw({
    id,
    commits,
    begun,
    unfinished,
    message,
  }: WorkspacePort.WithdrawRequest): Promise<WorkspacePort.BranchMove> {
    const tip = await readRef(this.#git, this.#ref);
    await this.#folder.list(); // a folder that git cannot keep is found before anything is recorded
    const history = await branchHistory(this.#steps, tip);
    // A commit that was carried over to others of the user's has another id there.
    const now = await this.#steps.successors(commits, tip);
    for (const [before, after] of Object.entries(now)) await this.#refuseTaken(before, after);
    const found = await Promise.all(begun.map((stepKey) => this.#steps.find(tip, stepKey)));
    const made = new Set([
      ...commits.map((commit) => now[commit] ?? commit),
      ...found.filter((at) => at !== null),
    ]);
    const places = [...made].map((commit) => indexOfCommit(commit, history));
    const ends = [...(unfinished ? [-1] : []), ...places].toSorted((a, b) => a - b);
    let tree = tip === null ? EMPTY_TREE : await treeOf(this.#git, tip);
    for (const end of ends) {
      const first = history[beginningOf(history, end)];
      const last = history[Math.max(end, 0)];
      if (first !== undefined && last !== undefined) tree = await this.#without(first, last, tree);
    }
    return { id, from: tip, to: await this.#onTop(tip, tree, message), folder: tree };
  }

  async reinstate({ id, move, message }: WorkspacePort.ReinstateRequest): Promise<WorkspacePort.BranchMove> {
    const kept = await readRef(this.#git, `${KEPT}/${move.id}`);
    const tip = await readRef(this.#git, this.#ref);
    if (kept === null || tip !== move.to) throw branchMovedOn();
    const tree = move.from === null ? EMPTY_TREE : await treeOf(this.#git, move.from);
    const folder = await treeOf(this.#git, kept);
    return { id, from: tip, to: await this.#onTop(tip, tree, message), folder };
  }

  async follow({ id, from, to, folder }: WorkspacePort.BranchMove): Promise<WorkspacePort.Rescue | null> {
    const ref = `${KEPT}/${id}`;
    const kept = (await readRef(this.#git, ref)) ?? (await this.#move({ ref, from, to }));
    await this.#folder.restore(folder);
    if (to !== null) await this.#folder.showCommit(to);
    const before = from === null ? EMPTY_TREE : await treeOf(this.#git, from);
    const files = await this.#folder.differing(before, await treeOf(this.#git, kept));
    return files.length === 0 ? null : { ref, commit: kept, files: files.length };
  }

  /** Keeps the folder and moves the branch at once; the folder follows. */
  async #move({ ref, from, to }: MoveAndKeep): Promise<string> {
    const kept = await this.#store(await this.#folder.snapshot(), from, 'The folder of the run');
    const stays = to === from || to === null;
    const branch: readonly RefMove[] = stays ? [] : [{ name: this.#ref, from, to }];
    await moveRefs(this.#git, [...branch, { name: ref, from: null, to: kept }]);
    return kept;
  }

  /** `tree` without what the commits from `first` to `last` changed. */
  async #without(first: BranchCommit, last: BranchCommit, tree: string): Promise<string> {
    const before = first.parent === null ? EMPTY_TREE : await treeOf(this.#git, first.parent);
    const merged = await mergeTrees(this.#git, { base: last.tree, ours: tree, theirs: before });
    if ('tree' in merged) return merged.tree;
    throw rewindConflict(merged.conflicts);
  }

  /** A commit that changes nothing on top of the user's, and did before: what it changed is theirs, and stays. */
  async #refuseTaken(before: string, after: string): Promise<void> {
    if ((await this.#changes(after)) || !(await this.#changes(before))) return;
    throw branchTaken((await this.#git.run(['log', '-1', '--format=%s', after, '--'])).trim());
  }

  async #changes(commit: string): Promise<boolean> {
    const paths = ['diff-tree', '--root', '--no-commit-id', '--name-only', '-r', '-z', commit, '--'];
    return (await this.#git.run(paths)) !== '';
  }

  async #onTop(tip: string | null, tree: string, message: string): Promise<string | null> {
    if (tip === null || (await treeOf(this.#git, tip)) === tree) return tip;
    return this.#store(tree, tip, message.trim());
  }
}

function indexOfCommit(commit: string, history: readonly BranchCommit[]): number {
  const at = history.findIndex(({ sha }) => sha === commit);
  if (at !== -1) return at;
  throw new DevsError(`The commit ${commit} of a task is not on the run's branch.`, {
    code: 'WORKSPACE_FAILED',
    remedy: "Restore the run's git dir, .devs/git, from a backup.",
  });
}

interface MoveAndKeep {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
}

/**
 * Where the commits of one task begin, newest first from `end`; -1 is the task that has no commit of its own yet.
 * What a person changed beside unverified work belongs to the task that work was made for, and so does that work where
 * an earlier release committed it, with what was built on it.
 *
 * @returns `end` where there are no others.
 */
function beginningOf(history: readonly BranchCommit[], end: number): number {
  const aside = history.slice(end + 1).findIndex(({ kind }) => kind === 'other');
  const own = history.slice(end + 1, aside === -1 ? undefined : end + 1 + aside);
  return end + 1 + own.findLastIndex(({ kind }) => kind !== 'adopted');
}

function rewindConflict(files: readonly string[]): DevsError {
  return new DevsError(`The commits to undo conflict with later commits in ${namedFiles(files)}.`, {
    code: 'REWIND_CONFLICT',
    remedy: 'Rewind further, to a task before the conflicting one. Nothing was changed.',
    context: { files: files.length },
  });
}

const branchTaken = (subject: string): DevsError =>
  new DevsError(`The work of ${JSON.stringify(subject)} is already part of your own commits.`, {
    code: 'REWIND_CONFLICT',
    remedy:
      'Rewind to a later task, or undo the work in your own commit and start a new run. Nothing was changed.',
  });

const branchMovedOn = (): DevsError =>
  new DevsError("The run's branch has moved since the rewind.", {
    code: 'REWIND_CONFLICT',
    remedy: 'Resume the run from its current state. The undone work stays in the history of the branch.',
  });
