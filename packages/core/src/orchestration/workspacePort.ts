import type { OnActivity } from '../events/Activity.ts';
import type { GitPack, GitPosition, GitRecord, StoredGitPack } from '../state/GitPackStore.ts';

export type { GitPack, GitPosition, GitRecord, StoredGitPack };

// What holds the files of a run.

/** A whole file, or its removal, relative to the workspace. Applying it twice changes nothing more. */
export interface FileEdit {
  readonly path: string;
  /** `null` removes the file. */
  readonly content: string | null;
}

/** The working folder as an agent sees it. Paths are relative and stay inside. */
export interface WorkspaceReader {
  /** Absolute path, for agents that edit in place. */
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

/** The folder of one run. Its git dir is out of reach of agent commands. */
export interface RunWorkspace extends WorkspaceReader {
  /** @throws DevsError `PATH_REFUSED` before anything is written. */
  apply(edits: readonly FileEdit[]): Promise<void>;
  /** Stores the folder's content and returns the id of its git tree. */
  snapshot(): Promise<string>;
  /**
   * Returns the tree that the engine left in the folder, regardless of its current content. @defaultValue {@link
   * snapshot}
   */
  left?(): Promise<string>;
  /**
   * Makes the folder equal to a tree of `snapshot`. Changes of others since the engine left it are saved first; returns
   * `null` if there were none.
   */
  restore(tree: string): Promise<Rescue | null>;
  /**
   * Prepares ignored files as the setup command leaves them for this tree, and removes all others, so that checks see a
   * fresh checkout. @defaultValue does nothing
   *
   * @param tree - The tree that was restored last.
   * @returns The setup's output if the work made it fail, so that checks cannot run; `null` if the folder is ready.
   */
  ready?(tree: string, signal: AbortSignal): Promise<CheckResult | null>;
  /** Restores a tree after the engine's own checks ran; their leftovers are not saved. @defaultValue does nothing */
  discard?(tree: string): Promise<void>;
  /** Returns the tree of the branch's last commit, or of the run's start. @defaultValue unknown */
  integrated?(): Promise<string>;
  /** Returns the tree `base` with these paths as in `from` (also if absent there). Does not change a ref or the folder. */
  overlay?(base: string, from: string, paths: readonly string[]): Promise<string>;
  /**
   * Returns the differences of two trees. @param maxBytes - Length of the text; a longer one is cut at a line, with a
   * note.
   */
  compare?(from: string, to: string, maxBytes: number): Promise<TreeDiff>;
  /** Returns a text file of a tree; `null` if it is missing or not text. */
  readAt?(tree: string, path: string): Promise<string | null>;
  /** Returns the commit's SHA. */
  commit(request: CommitRequest): Promise<string>;
  /** Returns the run's own commits on its branch, oldest first. */
  log(): Promise<readonly CommitView[]>;
  /** Returns messages of the last commits before the run's own, newest first. @defaultValue an empty list */
  messages?(limit: number): Promise<readonly string[]>;
  /** Returns a hook of the repository, if hooks are to run and it has it. @defaultValue `null` */
  hook?(name: HookName): Promise<CommitHook | null>;
  /** Returns notes for the merge: unsigned commits, hooks that did not run. @defaultValue an empty list */
  commitNotes?(): Promise<readonly string[]>;
  /**
   * Returns the changes of the run's commits after one of them, up to the newest.
   *
   * @param after - A commit of the run; `null`: from the start of the run.
   * @returns `null` before the first commit.
   */
  changes(after: string | null): Promise<Changes | null>;
  /** Commits a person's changes in the folder since the engine left it; returns `null` if there are none. */
  adopt?(request: AdoptRequest): Promise<AdoptedTree | null>;
  /**
   * Moves the run onto the user's new commits; returns `null` if there are none.
   *
   * @param recorded - Commits in the run's record. Those that the branch no longer has are returned in `moved`, also if
   *   a killed sync moved them before it was recorded.
   */
  sync?(recorded: readonly string[]): Promise<Synced | null>;
  /** Returns new commit ids by old ones, for commits that a sync moved. @defaultValue no commit was moved */
  successors?(commits: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /**
   * Computes the branch without some of its commits, which stay in its history. Does not change a ref or a file.
   *
   * @throws DevsError `REWIND_CONFLICT` naming the files, if later commits depend on them; also for work that a sync
   *   made part of the user's commits.
   */
  withdraw?(request: WithdrawRequest): Promise<BranchMove>;
  /** Computes the way back from a move, without a change. @throws DevsError `REWIND_CONFLICT` */
  reinstate?(request: ReinstateRequest): Promise<BranchMove>;
  /**
   * Moves branch and folder. Can be called again after a kill.
   *
   * @returns The saved uncommitted changes of the folder, or `null`.
   */
  follow?(move: BranchMove): Promise<Rescue | null>;
  /** Whether a person made this tree and agents have not worked on it since. */
  isAdopted?(tree: string): Promise<boolean>;
  /** Puts the run's branch into the repository it works for; returns `null` without a repository or commits. */
  deliver?(): Promise<Delivery | null>;
}

/** Hooks that can refuse a commit. */
export type HookName = 'pre-commit' | 'commit-msg';

export interface CommitHook {
  readonly script: string;
  /** Program and arguments before the script. */
  readonly interpreter: readonly string[];
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
  /** Returns the folder a run will use; recorded at `start`, before it is created. */
  dirOf(threadId: string): string;
  /** Rejects if runs cannot work here, before one is recorded; writes nothing. @defaultValue accepts */
  assertUsable?(): Promise<void>;
  /**
   * Creates or reopens the folder of a run.
   *
   * @throws DevsError `LEASE_LOST` for a process that was replaced.
   */
  open(threadId: string, options?: OpenOptions): Promise<RunWorkspace>;
  /**
   * Returns a text file of a run's commit or tree without opening its folder; `null` if it is missing or not text.
   *
   * @throws DevsError `WORKSPACE_FAILED` for an unknown commit or tree.
   */
  readAt?(threadId: string, tree: string, path: string): Promise<string | null>;
  /**
   * Returns the diff of two commits of a run for a review, unmasked. @defaultValue hidden code is not counted
   *
   * @throws DevsError `WORKSPACE_FAILED` for an unknown commit.
   */
  diff?(threadId: string, range: CommitRange): Promise<string>;
  /**
   * Deletes the folders and the store of a run, and its branch in the user's repository if it is merged or, with
   * `force`, contains only the run's commits. @defaultValue deletes nothing
   *
   * @throws DevsError `REMOVE_REFUSED` without `force` for work that exists only here; everything stays then.
   */
  remove?(threadId: string, options: { readonly force: boolean }): Promise<RemovedWorkspace>;
  /** Deletes files of runs that are not in this list. Returns the number of bytes. @defaultValue deletes nothing */
  sweep?(threadIds: ReadonlySet<string>): Promise<number>;
  /** Releases the folder after an execution, so that the next process can use it. @defaultValue does nothing */
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

// What judges the work.

export interface CheckResult {
  readonly passed: boolean;
  /** `null` if a signal ended the command. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** End of stdout and stderr together, masked. */
  readonly output: string;
  /** The executed command. */
  readonly command: string;
  /** Results of each named part, if there are several. */
  readonly parts?: readonly CheckPart[];
  /** Test cases by name; absent if the runner does not report them, or reports too many. */
  readonly cases?: readonly TestCase[];
  /** Cases or commands that failed and then passed on the same tree. */
  readonly flaky?: readonly string[];
  /** A missing program: the check did not run. */
  readonly missing?: string;
  /** Milliseconds that the command ran. */
  readonly durationMs?: number;
  /** Milliseconds that it may run at most; absent unless it ran longer than half of that. */
  readonly limitMs?: number;
}

export interface TestCase {
  /** Name with its file and suites, joined by ` › `; unique in its run. */
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** Represents a file without reported cases: all passed, or it did not load or end. */
  readonly whole?: true;
}

/** One of several commands of a check. */
export interface CheckPart {
  readonly name: string;
  /** A lint error is not a red test. */
  readonly kind: 'test' | 'types' | 'lint';
  readonly passed: boolean;
  /** Absent in a result of an older release. */
  readonly command?: string;
  /** Milliseconds; absent if the check does not report them, and in a result of an older release. */
  readonly durationMs?: number;
  /** As `limitMs` of `CheckResult`. */
  readonly limitMs?: number;
}

export interface CheckRequest {
  /** Absolute path of the folder to run in. */
  readonly dir: string;
  /** The workspace, if `dir` is a folder inside it. @defaultValue `dir` */
  readonly root?: string;
  readonly signal: AbortSignal;
  /** Receives the output of the checks. */
  readonly onActivity?: OnActivity;
  /** The expected result: an expected failure is not repeated to find flaky tests. @defaultValue 'pass' */
  readonly expect?: 'pass' | 'fail';
  /** Absolute path of a folder for the downloads of package managers. @defaultValue they are not kept */
  readonly downloads?: string;
}

/** Runs the project's own tests. */
export interface Checks {
  run(request: CheckRequest): Promise<CheckResult>;
  /**
   * Runs the command of a `checked-by` task, with the rights and limits of the project's checks.
   *
   * @param argv - Program and arguments, without a shell.
   * @defaultValue a run with such a task ends with `CONFIG_INVALID`
   */
  runCommand?(argv: readonly string[], request: CheckRequest): Promise<CheckResult>;
}
