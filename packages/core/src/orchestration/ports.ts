// What the pipeline needs from outside: agents that propose, a workspace that holds files, checks that judge.
// `@devs/agents` implements them; a test passes literals. Everything returned is plain JSON.

import type { UsageReport } from '../engine/guards/usage.ts';
import type { Activity, OnActivity, PlanEntry } from '../events/Activity.ts';
import type { HitlSessionKind } from '../state/hitlSession.ts';

export type { Activity, OnActivity, PlanEntry };

/** What an agent is told about the call itself. */
export interface AgentCall {
  /** Told what happens while it happens. */
  readonly onActivity?: OnActivity;
  /** The project's checks, for a stage that works on a task; absent where none are offered. */
  readonly checks?: OfferedChecks;
  /** Stable over retries and restarts of this call: hand it to a provider that accepts one. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /** Reports what the call cost; recorded with its result. */
  readonly usage: (usage: UsageReport) => void;
}

/** Checks that an agent may run within its call. What they say decides nothing: the engine runs its own. */
export interface OfferedChecks {
  /** Runs within one call. */
  readonly limit: number;
  /**
   * Runs all checks on the call's tree with edits on top; the folder is then as it was. Recorded: a call that is made
   * again gets what was said of the same tree.
   *
   * @throws DevsError `PATH_REFUSED`; RangeError past the limit, or when the call has ended.
   */
  run(edits: readonly FileEdit[]): Promise<CheckResult>;
}

export interface DraftDocument {
  /** `PRD`, `TAS`, `RESEARCH`, … */
  readonly type: string;
  readonly title: string;
  readonly content: string;
  /** In a request: a human sent this version back. */
  readonly rejected?: true;
}

/** A whole file (or its removal), relative to the workspace: applying it twice changes nothing. */
export interface FileEdit {
  readonly path: string;
  /** `null` removes the file. */
  readonly content: string | null;
}

/** What the repository itself tells agents: `AGENTS.md`, else `CLAUDE.md`, as the run's tree has it. */
export interface Instructions {
  /** Relative to the workspace. */
  readonly path: string;
  /** At most 32 KiB over all of them; a longer one is cut, and says so. */
  readonly content: string;
  /** SHA-256 (hex) of the whole file. */
  readonly sha256: string;
}

export interface ResearchRequest {
  readonly brief: string;
  /** The repository, to be read. Absent where a graph has no workspace. */
  readonly workspace?: WorkspaceReader;
  readonly instructions?: readonly Instructions[];
  /** The project's checks, and what of them fails before anything is changed; words. */
  readonly checks?: string;
  /** From 1; counts every time this stage is asked anew. */
  readonly attempt: number;
}

export interface DesignRequest extends ResearchRequest {
  readonly documents: readonly DraftDocument[];
  /** Why a human sent the last proposal back; `null` on the first attempt. */
  readonly feedback: string | null;
  /** What became of it since it was proposed, one line each: what humans edited, which files of the repository are others. */
  readonly changes?: readonly string[];
  /**
   * Set when the answer just given named files that the repository does not have: it is asked for once more. `documents`
   * then has that answer, and `feedback` says so too.
   */
  readonly unknownFiles?: readonly string[];
}

export interface DocumentsResult {
  readonly documents: readonly DraftDocument[];
  /** Of `design`: files that are not there, of which the agent was told within its stage; it is not asked again. */
  readonly toldOf?: readonly string[];
}

export interface DistillRequest extends DesignRequest {
  /** The plan that was sent back, its tasks under the names people know them by (`T4`); `null` on the first attempt. */
  readonly rejected?: PlanResult | null;
}

export interface RequirementDraft {
  readonly externalId: string;
  readonly description: string;
}

export interface TaskDraft {
  /** The agent's own name for the task; `dependsOn` refers to it. The engine issues the real id. */
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly dependsOn: readonly string[];
  /** External ids of the requirements it traces to. */
  readonly requirements: readonly string[];
  readonly acceptanceCriteria: readonly string[];
  /** How its work is shown to be right. @defaultValue 'test-first' */
  readonly kind?: TaskKind;
  /** Of a task that is `checked-by` something else than a test: a command without a shell, or `review`. */
  readonly checkedBy?: string;
}

/**
 * `test-first`: a new test fails before the work and passes after it. `behaviour-kept`: refactoring, the suite is green
 * before and after. `checked-by`: types, documentation, configuration; a named command or a review shows it.
 */
export type TaskKind = 'test-first' | 'behaviour-kept' | 'checked-by';

export interface EpicDraft {
  readonly name: string;
  readonly description: string;
  readonly tasks: readonly TaskDraft[];
}

export interface PlanResult {
  readonly requirements: readonly RequirementDraft[];
  readonly epics: readonly EpicDraft[];
}

/** The working folder as an agent sees it; paths are relative and stay inside. */
export interface WorkspaceReader {
  /** Absolute path: for agents that edit in place. */
  readonly dir: string;
  list(): Promise<readonly string[]>;
  read(path: string): Promise<string>;
}

/** A task as an agent is told of it. */
export interface TaskBrief {
  readonly taskId: string;
  readonly name: string;
  readonly description: string;
  readonly acceptanceCriteria: readonly string[];
  /** Absent: `test-first`. */
  readonly kind?: TaskKind;
  readonly checkedBy?: string;
}

export interface TaskRequest {
  readonly task: TaskBrief;
  readonly documents: readonly DraftDocument[];
  /** From 1; counts every attempt at the task, over pivots and human answers. */
  readonly attempt: number;
  /** Tail of the last red check of this task; `null` before one. */
  readonly lastFailure: string | null;
  /** What the pivot agent chose last; absent before a pivot. */
  readonly strategy?: string;
  /** What humans said about the task, oldest first. */
  readonly guidance: readonly string[];
  /** The code that a human sent back, unified, against what it was made on; at most 32 KiB, a longer one says so. */
  readonly rejectedDiff?: string;
  readonly workspace: WorkspaceReader;
  readonly instructions?: readonly Instructions[];
}

/** A task whose work is to be judged. */
export interface ReviewRequest extends TaskRequest {
  /** Unified, of the task's work against the last integrated tree; a longer one is cut, and says so. */
  readonly diff?: string;
  readonly files?: readonly FileChange[];
  /** Of the project's checks on this work. */
  readonly check?: CheckResult;
  /** What the tests lose by it. */
  readonly losses?: readonly TestLoss[];
}

/** What a change takes from the tests, or from what judges them. */
export interface TestLoss {
  readonly kind: 'deleted' | 'emptied' | 'skipped' | 'only' | 'fewer-cases' | 'weakened-check';
  /** The file; `null` where it is about a case alone. */
  readonly path: string | null;
  /** One line for people. */
  readonly words: string;
}

/** Why a task needs another strategy: its turns are spent, or it repeats an error or an output. */
export type PivotReason = 'turns_spent' | 'same_error' | 'same_output';

/** A task that makes no progress, with all that was tried. */
export interface PivotRequest {
  readonly task: TaskBrief;
  readonly documents: readonly DraftDocument[];
  /** The repository as the last attempt left it, to be read. Absent where a graph has no workspace. */
  readonly workspace?: WorkspaceReader;
  readonly instructions?: readonly Instructions[];
  /** As in {@link ResearchRequest}. */
  readonly checks?: string;
  /** The attempt at the task after which it is asked, from 1. */
  readonly attempt: number;
  readonly reason: PivotReason;
  /** Strategies that did not lead on, oldest first. One of these, in other spelling too, is refused. */
  readonly tried: readonly TriedStrategy[];
  /** What the last attempts did and saw, oldest first. */
  readonly observations: readonly AttemptReport[];
  /** Messages of the errors thrown since the last strategy, oldest first. Masked. */
  readonly errors: readonly string[];
  /** What humans said about the task, oldest first. */
  readonly guidance: readonly string[];
  /** The strategy that was just proposed and refused as tried; `null` when asked for the first time. */
  readonly refused: string | null;
}

export interface TriedStrategy {
  readonly strategy: string;
  /** SHA-256 (hex) of the normalised strategy. */
  readonly fingerprint: string;
}

export interface AttemptReport {
  readonly action: string;
  readonly observation: string;
}

export interface PivotResult {
  /** What the next attempts do differently, in words for the agents that make them. */
  readonly strategy: string;
  /** Why it may work where the others did not; shown to humans. */
  readonly reason: string;
}

/** An edit proposed by an agent. An agent that edits in place returns no files: the workspace tells. */
export interface WorkResult {
  readonly summary: string;
  readonly files: readonly FileEdit[];
  /** Of `implement`: why a test of this task is wrong. The test is then written again. */
  readonly wrongTest?: string;
}

export interface ReviewResult {
  readonly approved: boolean;
  readonly comments: string;
  /** What shows that the acceptance criteria are met; recorded with the task. The checks decide. */
  readonly evidence?: readonly CriterionEvidence[] | undefined;
}

export interface CriterionEvidence {
  readonly criterion: string;
  /** For example the test that would fail without it. */
  readonly shownBy: string;
}

/** A stage that can be asked about what it proposed. */
export type AnsweringStage = 'design' | 'distill' | 'implement' | 'review' | 'pivot';

/** A person's question about an open gate, and what an agent said to it. */
export interface Exchange {
  readonly question: string;
  readonly answer: string;
}

/** A person asks about an open gate. Whatever is answered decides nothing. */
export interface AnswerRequest {
  /** Whose work the gate shows. */
  readonly stage: AnsweringStage;
  readonly gate: {
    readonly kind: HitlSessionKind;
    readonly message: string;
    /** What the person is shown. */
    readonly artifact: unknown;
  };
  readonly question: string;
  /** What was asked and answered at this gate before, oldest first. */
  readonly earlier: readonly Exchange[];
  readonly brief: string;
  readonly documents: readonly DraftDocument[];
  /** Of a gate about one task. */
  readonly task?: TaskBrief;
  /** To be read; absent before the run has a folder. */
  readonly workspace?: WorkspaceReader;
}

export interface AnswerResult {
  /** Markdown, for the person who asked. */
  readonly answer: string;
}

/** Where the agents' words come from; shown wherever a run is shown. */
export type Provenance = 'scripted' | 'recorded' | 'live';

/** The agents of every stage. They propose; the engine decides (law L8). */
export interface StageAgents {
  readonly name: string;
  readonly provenance: Provenance;
  /** What else shapes their answers, such as the hash of their prompts; recorded, and a change is told. */
  readonly fingerprint?: string;
  research(request: ResearchRequest, call: AgentCall): Promise<DocumentsResult>;
  design(request: DesignRequest, call: AgentCall): Promise<DocumentsResult>;
  distill(request: DistillRequest, call: AgentCall): Promise<PlanResult>;
  writeTest(request: TaskRequest, call: AgentCall): Promise<WorkResult>;
  implement(request: TaskRequest, call: AgentCall): Promise<WorkResult>;
  review(request: ReviewRequest, call: AgentCall): Promise<ReviewResult>;
  document(request: TaskRequest, call: AgentCall): Promise<WorkResult>;
  /** Proposes another strategy for a task that makes no progress. Without it such a task ends the run. */
  pivot?(request: PivotRequest, call: AgentCall): Promise<PivotResult>;
  /** Answers what a person asks about an open gate. @defaultValue nobody can be asked */
  answer?(request: AnswerRequest, call: AgentCall): Promise<AnswerResult>;
  /** Ends what is kept running between calls, when a drive has ended; a later call begins anew. @defaultValue nothing is kept */
  close?(): Promise<void>;
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
  /** Who works in the folder. @defaultValue nobody: what is there is looked at, and a first folder made */
  readonly driver?: Driver;
  /** Aborting it ends what prepares the folder. */
  readonly signal?: AbortSignal;
  /** Told what prepares the folder. */
  readonly onActivity?: OnActivity;
}

export interface CheckResult {
  readonly passed: boolean;
  /** `null` when the command was ended by a signal. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** Tail of stdout and stderr together, masked. */
  readonly output: string;
  /** The command, as it was run. */
  readonly command: string;
  /** What each named part said, where there is more than one. */
  readonly parts?: readonly CheckPart[];
  /** Test cases by name; absent where the runner does not tell, or there are too many. */
  readonly cases?: readonly TestCase[];
  /** Cases, or commands, that failed and passed on the same tree. */
  readonly flaky?: readonly string[];
  /** A program that is not there: nothing was checked. */
  readonly missing?: string;
}

export interface TestCase {
  /** With the file and suites it stands in, as far as the runner tells: unique in its run. */
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
}

/** One of several commands of a check. */
export interface CheckPart {
  readonly name: string;
  /** A lint error is not a red test. */
  readonly kind: 'test' | 'types' | 'lint';
  readonly passed: boolean;
}

export interface CheckRequest {
  /** Where the command runs, absolute. */
  readonly dir: string;
  /** The workspace, where `dir` is a folder inside it. @defaultValue `dir` */
  readonly root?: string;
  readonly signal: AbortSignal;
  /** Told what the checks print. */
  readonly onActivity?: OnActivity;
  /** What is due: a red that is expected is not run again to see whether it is flaky. @defaultValue 'pass' */
  readonly expect?: 'pass' | 'fail';
}

/** Runs the project's own tests. */
export interface Checks {
  run(request: CheckRequest): Promise<CheckResult>;
  /**
   * Runs the command a task is `checked-by` as the project's own are run, with the same rights and limits.
   *
   * @param argv - Program and arguments, without a shell.
   * @defaultValue a run with such a task ends with `CONFIG_INVALID`
   */
  runCommand?(argv: readonly string[], request: CheckRequest): Promise<CheckResult>;
}
