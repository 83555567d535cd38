import type { OnActivity } from '../events/Activity.ts';
import type { GitPack, GitStand, KeptGitPack } from '../state/GitPackStore.ts';
import type { GitRecord } from '../state/gitRecord.ts';
import type { CheckResult } from './checksPort.ts';

export type { GitPack, GitRecord, GitStand, KeptGitPack };

// What holds the files of a run.

/** A whole file (or its removal), relative to the workspace: applying it twice changes nothing. */
export interface FileEdit {
  readonly path: string;
  /** `null` removes the file. */
  readonly content: string | null;
}

/** The working folder as an agent sees it; paths are relative and stay inside. */
export interface WorkspaceReader {
  /** Absolute path: for agents that edit in place. */
  readonly dir: string;
  list(): Promise<readonly string[]>;
  read(path: string): Promise<string>;
}

export interface CommitRequest {
  /** What is committed: a tree made by `snapshot`. */
  readonly tree: string;
  readonly message: string;
  /** Unique per commit; an earlier commit with this key is returned instead of a second one. */
  readonly stepKey: string;
}

/** The folder one run works in, with a git dir that agent commands cannot reach. */
export interface RunWorkspace extends WorkspaceReader {
  /** @throws DevsError `PATH_REFUSED` before anything is written. */
  apply(edits: readonly FileEdit[]): Promise<void>;
  /** Stores the folder's content and returns the id of its git tree. */
  snapshot(): Promise<string>;
  /** The tree the engine left in the folder, whatever lies there by now. @defaultValue {@link snapshot} */
  left?(): Promise<string>;
  /**
   * Makes the folder equal to a tree made by `snapshot`. What somebody else changed in it since the engine left it is
   * kept first; `null` when there was nothing.
   */
  restore(tree: string): Promise<Rescue | null>;
  /**
   * Makes what lies in the folder beside its tree as the setup command leaves it for that tree, and removes all else:
   * checks judge what a fresh checkout would be. @defaultValue nothing is done
   *
   * @param tree - What was restored last.
   * @returns What setup said if the work made it fail: no check can run on it; `null` when all is ready.
   */
  ready?(tree: string, signal: AbortSignal): Promise<CheckResult | null>;
  /** {@link restore} after the engine's own checks ran in the folder: what they left is not kept. @defaultValue nothing is done */
  discard?(tree: string): Promise<void>;
  /** The tree of the last commit of the run's branch, or the one the run began with. @defaultValue not known */
  integrated?(): Promise<string>;
  /** A tree that is `base`, but with these paths as they are in `from` (absent there: absent). Neither ref nor folder change. */
  overlay?(base: string, from: string, paths: readonly string[]): Promise<string>;
  /** What differs between two trees. @param maxBytes - Of the text; what is longer is cut at a line, and says so. */
  compare?(from: string, to: string, maxBytes: number): Promise<TreeDiff>;
  /** A file of a tree; `null` where there is none, or it is no text. */
  readAt?(tree: string, path: string): Promise<string | null>;
  /** Returns the commit's SHA. */
  commit(request: CommitRequest): Promise<string>;
  /** The run's own commits on its branch, oldest first. */
  log(): Promise<readonly CommitView[]>;
  /**
   * What the run's commits changed after one of them, up to the newest.
   *
   * @param after - A commit of the run; `null`: from where the run began.
   * @returns `null` before the first commit.
   */
  changes(after: string | null): Promise<Changes | null>;
  /** Commits what a person changed in the folder since the engine left it; `null` when nothing was changed. */
  adopt?(request: AdoptRequest): Promise<AdoptedTree | null>;
  /**
   * Carries the run over to the commits the user has made since; `null` when there are none.
   *
   * @param recorded - Commits the run's record names: those that are on the branch no more come back in `moved`, also
   *   when the sync that moved them was killed before it was recorded.
   */
  sync?(recorded: readonly string[]): Promise<Synced | null>;
  /** For commits that the branch has no more since a sync: the new id by the old one. @defaultValue none was moved */
  successors?(commits: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /**
   * Computes the branch without some of its commits, which stay in its history. No ref and no file is changed.
   *
   * @throws DevsError `REWIND_CONFLICT` naming the files, if commits that stay were built on them; also for work that is
   *   part of the user's own commits since a sync.
   */
  withdraw?(request: WithdrawRequest): Promise<BranchMove>;
  /** Computes the way back from a move that was made; nothing is changed. @throws DevsError `REWIND_CONFLICT` */
  reinstate?(request: ReinstateRequest): Promise<BranchMove>;
  /**
   * Moves branch and folder. May be called again after a kill at any point of it.
   *
   * @returns What lay uncommitted in the folder and was kept; `null` when nothing did.
   */
  follow?(move: BranchMove): Promise<Rescue | null>;
  /** Whether a tree is what a person made, and no agent has worked on it since. */
  isAdopted?(tree: string): Promise<boolean>;
  /** Puts the run's branch into the repository the run works for; `null` where there is none, or nothing to give. */
  deliver?(): Promise<Delivery | null>;
}

/** Who signs a commit. */
export interface Author {
  readonly name: string;
  readonly email: string;
}

export interface AdoptRequest {
  readonly author: Author;
  readonly message: string;
  /** Who asked for it, as the log names them. */
  readonly principal: string;
}

/** A change of a run's branch and folder that was computed first. Plain JSON: it is recorded before it is made. */
export interface BranchMove {
  /** Unique per move; names where the folder is kept as it was. Letters, digits and hyphens. */
  readonly id: string;
  /** Commit the branch is at; `null` before its first. */
  readonly from: string | null;
  readonly to: string | null;
  /** Tree the folder becomes equal to. */
  readonly folder: string;
}

export interface WithdrawRequest {
  readonly id: string;
  /** Commits made by tasks. What was committed of such a task before it was finished goes with it. */
  readonly commits: readonly string[];
  /** Step keys of commits that were begun: whoever was about to make them may have died before or after. */
  readonly begun: readonly string[];
  /** Whether what was committed after the last finished task, and not verified, goes too. */
  readonly unfinished: boolean;
  /** Of the commit on top of the branch. */
  readonly message: string;
}

export interface ReinstateRequest {
  readonly id: string;
  /** The move to take back. */
  readonly move: BranchMove;
  readonly message: string;
}

/** The run's commits on top of the user's newest. */
export interface Synced {
  /** The user's commit. */
  readonly base: string;
  /** How many of the run's commits were carried over. */
  readonly commits: number;
  /** The ref that keeps them as they were; `null` where there were none. */
  readonly before: string | null;
  /** What became of recorded commits: the new id by the old one. */
  readonly moved: Readonly<Record<string, string>>;
}

export interface AdoptedTree {
  readonly commit: string;
  readonly tree: string;
  /** How many the person changed. */
  readonly files: number;
}

/** Files of the folder that the engine did not leave there, kept as a commit before they were replaced. */
export interface Rescue {
  /** Found in the run's own git dir. */
  readonly ref: string;
  readonly commit: string;
  /** How many differ from what replaced them. */
  readonly files: number;
}

/** The run's branch and the user's repository. */
export interface Delivery {
  readonly branch: string;
  readonly commit: string;
  /** Why the branch was not put there: it is checked out, or it has commits that are not the run's. */
  readonly held: 'checked_out' | 'changed' | null;
}

export interface CommitView {
  readonly sha: string;
  readonly subject: string;
}

/** Two commits, oldest first. `from` may be a tree: what a run that began empty began with. */
export interface CommitRange {
  readonly from: string;
  readonly to: string;
}

export interface Changes extends CommitRange {
  /** Git tree of `to`. */
  readonly tree: string;
  /** By path. */
  readonly files: readonly FileChange[];
}

export interface TreeDiff {
  /** Unified. */
  readonly diff: string;
  /** By path. */
  readonly files: readonly FileChange[];
}

/** Lines of a file; `null` where it has none to count. */
export interface FileChange {
  readonly path: string;
  readonly added: number | null;
  readonly removed: number | null;
}

export interface Workspace {
  /** The folder a run will work in; recorded at `start`, before anything is created. */
  dirOf(threadId: string): string;
  /** Rejects where no run could work, before one is recorded and paid for; writes nothing. @defaultValue nothing is looked at */
  assertUsable?(): Promise<void>;
  /**
   * Creates or reopens the folder of a run.
   *
   * @throws DevsError `LEASE_LOST` for a driver that was replaced.
   */
  open(threadId: string, options?: OpenOptions): Promise<RunWorkspace>;
  /**
   * A file of a commit or tree of a run, read without opening its folder; `null` where there is none, or it is no text.
   *
   * @throws DevsError `WORKSPACE_FAILED` for what is not stored.
   */
  readAt?(threadId: string, tree: string, path: string): Promise<string | null>;
  /**
   * How two commits of a run differ, as it is shown in a review, unmasked. @defaultValue what is hidden of code is not counted
   *
   * @throws DevsError `WORKSPACE_FAILED` for what is not stored.
   */
  diff?(threadId: string, range: CommitRange): Promise<string>;
  /**
   * Deletes all that was kept for a run: its folders, its store, and its branch in the user's repository, if that is
   * merged or, with `force`, if all its commits are the run's. @defaultValue nothing is deleted
   *
   * @throws DevsError `REMOVE_REFUSED` for work that is nowhere else, without `force`; nothing is deleted then.
   */
  remove?(threadId: string, options: { readonly force: boolean }): Promise<RemovedWorkspace>;
  /** Deletes what was kept for runs that are not among these. Returns how many bytes. @defaultValue nothing is deleted */
  sweep?(threadIds: ReadonlySet<string>): Promise<number>;
  /** A driver that has ended its work lets go of the folder, and the next one goes on in it. @defaultValue nothing is done */
  leave?(threadId: string, driver: Driver): Promise<void>;
}

/** What reads the code of runs, and opens no folder. */
export type CodeOfRuns = Pick<Workspace, 'readAt' | 'diff'>;

export interface RemovedWorkspace {
  /** What became of the branch in the user's repository; `null` where there is none. */
  readonly branch: { readonly name: string; readonly removed: boolean } | null;
}

/** Whoever drives a run, as its folder knows it. */
export interface Driver {
  /** Of its lease. */
  readonly epoch: number;
  /** Names its process: the same text is the same process, wherever it is read. */
  readonly holder: string;
  /** False once another driver has claimed the run. */
  isCurrent(): boolean;
  /** True only if the process of that name is provably gone. */
  isGone(holder: string): boolean;
}

export interface OpenOptions {
  /** Where the run's objects and refs are taken from, and kept. @defaultValue in the workspace's own store alone */
  readonly record?: GitRecord;
  /** Who works in the folder. @defaultValue nobody: what is there is looked at, and a first folder made */
  readonly driver?: Driver;
  /** Aborting it ends what prepares the folder. */
  readonly signal?: AbortSignal;
  /** Told what prepares the folder. */
  readonly onActivity?: OnActivity;
}
