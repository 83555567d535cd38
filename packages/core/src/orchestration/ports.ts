import type { UsageReport } from '../engine/guards/usage.ts';
import type { Activity, OnActivity, PlanEntry } from '../events/Activity.ts';
import type { HitlSessionKind } from '../state/gates/hitlSession.ts';
import type {
  CheckPart,
  CheckResult,
  Checks,
  CommitView,
  FileChange,
  FileEdit,
  TestCase,
  Workspace,
  WorkspaceReader,
} from './workspacePort.ts';

// What the pipeline needs from outside: agents that propose, a workspace that holds files, checks that judge.
// `@devs/agents` implements them; a test passes literals. Everything returned is plain JSON.

export type * from './workspacePort.ts';

export type { Activity, OnActivity, PlanEntry };

/** Context of one call of an agent. */
export interface AgentCall {
  /** Reports progress. */
  readonly onActivity?: OnActivity;
  /** The project's checks, for a stage that works on a task; absent if not offered. */
  readonly checks?: OfferedChecks;
  /**
   * Equal for the test, code and documentation stages of one attempt at a task: an agent may continue one conversation. The
   * request of each stage is complete without it.
   */
  readonly conversation?: string;
  /** Equal for every attempt of this call, also after a restart. Pass it to a provider that accepts one. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /** Reports tokens or cost; recorded with the result. */
  readonly usage: (usage: UsageReport) => void;
  /**
   * Call it before each request, after `usage` of the one before: it throws `BUDGET_SPENT` if the budget is used up. Hand the
   * error on; the same call is made again once a person has raised the budget. @defaultValue a call is not limited within
   */
  readonly beforeRequest?: () => void;
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
  /** In a request: a person rejected this version. */
  readonly rejected?: true;
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
  /** The repository, for reading. Absent if the graph has no workspace. */
  readonly workspace?: WorkspaceReader;
  readonly instructions?: readonly Instructions[];
  /** The project's checks and their failures before any change, as text. */
  readonly checks?: string;
  /** Starts at 1 and counts every attempt at this stage. */
  readonly attempt: number;
}

export interface DesignRequest extends ResearchRequest {
  readonly documents: readonly DraftDocument[];
  /** Feedback of the person who rejected the last proposal; `null` on the first attempt. */
  readonly feedback: string | null;
  /** Changes since the proposal, one line each: edits of people, changed files of the repository. */
  readonly changes?: readonly string[];
  /**
   * Files in the last answer that the repository does not have; the agent is asked once more. `documents` then contains
   * that answer, and `feedback` mentions it.
   */
  readonly unknownFiles?: readonly string[];
}

export interface DocumentsResult {
  readonly documents: readonly DraftDocument[];
  /** Of `design`: missing files that the agent was asked about within its stage; it is not asked again. */
  readonly toldOf?: readonly string[];
}

export interface DistillRequest extends DesignRequest {
  /** The rejected plan, with task labels such as `T4`; `null` on the first attempt. */
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

/** Another task of the plan. */
export interface SiblingTask {
  /** `T3`. */
  readonly label: string;
  readonly name: string;
  readonly state: 'done' | 'to_come' | 'given_up';
}

/** Lines of a file that an agent has read; recorded with its result, without their text. */
export interface ReadPassage {
  readonly path: string;
  /** From 1. */
  readonly fromLine: number;
  readonly lines: number;
}

/** A passage that an earlier stage of this attempt read, with its current text. */
export interface Excerpt extends Pick<ReadPassage, 'path' | 'fromLine'> {
  readonly content: string;
}

/** The failing test of a task, for the stage that writes its code. */
export interface WrittenTest {
  readonly files: readonly string[];
  /** Unified, against the last integrated tree; at most 32 KiB, with a note if it was cut. */
  readonly diff?: string;
  /** Result of the checks without the code; absent if the task needs no failing test. */
  readonly red?: CheckResult;
}

export interface TaskRequest {
  readonly task: TaskBrief;
  readonly documents: readonly DraftDocument[];
  /** The other tasks, in the order of the plan. */
  readonly siblings?: readonly SiblingTask[];
  /** As in {@link ResearchRequest}. */
  readonly checks?: string;
  /** Of `implement`. */
  readonly test?: WrittenTest;
  /** Of `document`: the repository's commit style; absent if it is unknown. */
  readonly commit?: {
    readonly style: string;
    /** Problems of a message, in words for its author. */
    problems(message: string): readonly string[];
  };
  /** Of `implement`; at most 24 KiB. */
  readonly excerpts?: readonly Excerpt[];
  /**
   * Of `document` and `review`: unified diff of the task's work against the last integrated tree, with a note if it was
   * cut.
   */
  readonly diff?: string;
  readonly files?: readonly FileChange[];
  /** Starts at 1 and counts every attempt at the task, over pivots and answers of people. */
  readonly attempt: number;
  /** End of the output of the task's last failed check; `null` before one. */
  readonly lastFailure: string | null;
  /** The pivot agent's last strategy; absent before a pivot. */
  readonly strategy?: string;
  /** Guidance of people for the task, oldest first. */
  readonly guidance: readonly string[];
  /** The rejected code as a unified diff against its base; at most 32 KiB, with a note if it was cut. */
  readonly rejectedDiff?: string;
  readonly workspace: WorkspaceReader;
  readonly instructions?: readonly Instructions[];
}

/** A task whose work needs a review. */
export interface ReviewRequest extends TaskRequest {
  /** Result of the project's checks on this work. */
  readonly check?: CheckResult;
  /** Tests that this work removes or weakens. */
  readonly losses?: readonly TestLoss[];
  /** Problems with the proof of this work, one line each. */
  readonly findings?: readonly string[];
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

/** A task without progress, with all its attempts. */
export interface PivotRequest {
  readonly task: TaskBrief;
  readonly documents: readonly DraftDocument[];
  /** The repository as the last attempt left it, for reading. Absent if the graph has no workspace. */
  readonly workspace?: WorkspaceReader;
  readonly instructions?: readonly Instructions[];
  /** As in {@link ResearchRequest}. */
  readonly checks?: string;
  /** The last attempt at the task, from 1. */
  readonly attempt: number;
  readonly reason: PivotReason;
  /** Failed strategies, oldest first. An equal one is rejected, in any spelling. */
  readonly tried: readonly TriedStrategy[];
  /** Reports of the last attempts, oldest first. */
  readonly observations: readonly AttemptReport[];
  /** Error messages since the last strategy, oldest first. Masked. */
  readonly errors: readonly string[];
  /** Guidance of people for the task, oldest first. */
  readonly guidance: readonly string[];
  /** The strategy that was just rejected because it was tried before; `null` on the first request. */
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
  /** Instructions for the next attempts. */
  readonly strategy: string;
  /** Why it can work, for people. */
  readonly reason: string;
}

/** Edits of an agent. An agent that edits in place returns no files; the engine reads the workspace. */
export interface WorkResult {
  readonly summary: string;
  readonly files: readonly FileEdit[];
  /** Of `implement`: why a test of this task is wrong. The test is then written again. */
  readonly wrongTest?: string;
  /** Of `document`: the message of the task's commit, with the reason in its body. Unsuitable messages are replaced. */
  readonly message?: string;
  /** Passages that it read, for the next stage; at most 40. */
  readonly read?: readonly ReadPassage[];
}

export interface ReviewResult {
  readonly approved: boolean;
  readonly comments: string;
  /** Evidence for each acceptance criterion; recorded with the task. The checks decide. */
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

/** A person's question about an open gate. The answer decides nothing. */
export interface AnswerRequest {
  /** The stage whose work the gate shows. */
  readonly stage: AnsweringStage;
  readonly gate: {
    readonly kind: HitlSessionKind;
    readonly message: string;
    /** What the person is shown. */
    readonly artifact: unknown;
  };
  readonly question: string;
  /** Earlier questions and answers at this gate, oldest first. */
  readonly earlier: readonly Exchange[];
  readonly brief: string;
  readonly documents: readonly DraftDocument[];
  /** The task of a gate about one task. */
  readonly task?: TaskBrief;
  /** For reading; absent before the run has a folder. */
  readonly workspace?: WorkspaceReader;
}

export interface AnswerResult {
  /** Markdown for the person. */
  readonly answer: string;
}

/** Where the agents' words come from; shown wherever a run is shown. */
export type Provenance = 'scripted' | 'recorded' | 'live';

/** The agents of every stage. They propose; the engine decides (law L8). */
export interface StageAgents {
  readonly name: string;
  readonly provenance: Provenance;
  /** Other settings that shape their answers, such as the hash of their prompts. Recorded; a change emits an event. */
  readonly fingerprint?: string;
  /**
   * What each of the agents reports of its calls: tokens; their cost, or the model whose price counts. A budget for what one does
   * not report is refused at the start. @defaultValue unknown, which is not refused
   */
  readonly reports?: readonly {
    readonly name: string;
    readonly tokens: boolean;
    readonly cost: boolean | { readonly model: string };
    /** Whether it reports them is not declared. @defaultValue it is known */
    readonly undeclared?: true;
  }[];
  research(request: ResearchRequest, call: AgentCall): Promise<DocumentsResult>;
  design(request: DesignRequest, call: AgentCall): Promise<DocumentsResult>;
  distill(request: DistillRequest, call: AgentCall): Promise<PlanResult>;
  writeTest(request: TaskRequest, call: AgentCall): Promise<WorkResult>;
  implement(request: TaskRequest, call: AgentCall): Promise<WorkResult>;
  review(request: ReviewRequest, call: AgentCall): Promise<ReviewResult>;
  document(request: TaskRequest, call: AgentCall): Promise<WorkResult>;
  /** Proposes another strategy for a task without progress. Without it, such a task ends the run. */
  pivot?(request: PivotRequest, call: AgentCall): Promise<PivotResult>;
  /** Answers a person's question about an open gate. @defaultValue questions are rejected */
  answer?(request: AnswerRequest, call: AgentCall): Promise<AnswerResult>;
  /**
   * Ends processes between calls, after an execution has ended. A later call starts them again. @defaultValue does
   * nothing
   */
  close?(): Promise<void>;
}

/** All of it, as the working nodes use it (law L10). A function that needs a part takes `Pick<PipelinePorts, …>`. */
export interface PipelinePorts {
  readonly agents: StageAgents;
  readonly workspace: Workspace;
  readonly checks: Checks;
  /** How often an agent may run the checks within one call that works on a task. @defaultValue 3 */
  readonly agentChecks?: number;
  /** What git holds of a run is kept in the run's file, which other machines take up. @defaultValue false */
  readonly travels?: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/** When a person reviews the committed code: after every task, or after every epic. */
export type ReviewScope = 'task' | 'epic';

/** The tasks whose code is shown together. */
export interface ReviewSubject {
  readonly scope: ReviewScope;
  /** `null` in a review of tasks. */
  readonly epicId: string | null;
  /** In the order of their commits. */
  readonly taskIds: readonly string[];
}

/** What the human is shown: names and numbers of the code, never its text (that is git's), and what speaks for it. */
export interface CodeReview extends ReviewSubject {
  /** Of the epic; `null` in a review of tasks. */
  readonly epicName: string | null;
  readonly tasks: readonly ReviewedTask[];
  readonly range: ReviewedRange;
  /** The newest commit of the last review of these tasks; `null` for the first one. */
  readonly since: string | null;
  /** The project's own checks on exactly the newest commit; `null` where they were not run on it. */
  readonly check: ReviewedCheck | null;
  /** Of these tasks, oldest first. */
  readonly rejections: readonly ReviewRejection[];
  /** Comments of the last rejection, and how many are answered; absent without any, and in a review of an older release. */
  readonly comments?: { readonly answered: number; readonly total: number };
  /** Notes for the merge: unsigned commits, hooks that did not run. */
  readonly notes?: readonly string[];
}

export interface ReviewedTask {
  readonly taskId: string;
  readonly name: string;
  /** Its newest in the range. */
  readonly commit: string | null;
  readonly criteria: readonly ReviewedCriterion[];
  /** The losses of the tests; absent if there are none. */
  readonly losses?: readonly TestLoss[];
  /** Problems of the evidence, one line each. */
  readonly findings?: readonly string[];
}

export interface ReviewedCriterion extends Pick<CriterionEvidence, 'criterion'> {
  /** `null` where the reviewing agent named nothing. */
  readonly shownBy: string | null;
}

/** `git diff from to` is the code that is decided on. */
export interface ReviewedRange {
  readonly from: string;
  readonly to: string;
  /** Git tree of `to`. */
  readonly tree: string;
  /** The newest, oldest first. */
  readonly commits: readonly CommitView[];
  /** The first by path. */
  readonly files: readonly FileChange[];
  /** Of all files. */
  readonly total: { readonly files: number; readonly added: number; readonly removed: number };
}

export interface ReviewedCheck {
  readonly command: string;
  /** Every check with its counts, in a line; absent in a review of an older release. */
  readonly summary?: string;
  readonly passed: boolean;
  readonly exitCode: number | null;
  /** Its end. */
  readonly output: string;
  /** Result of each named part, if there are several. */
  readonly parts?: readonly Pick<CheckPart, 'name' | 'passed' | 'durationMs'>[];
  /** Milliseconds of a single command; absent if the check does not report them, and in a review of an older release. */
  readonly durationMs?: number;
  /** Number of test cases by result; absent if the runner does not report them. */
  readonly cases?: Readonly<Record<TestCase['state'], number>>;
}

export interface ReviewRejection {
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly feedback: string;
}

/** The subject of a decision on code; kept with the decision. */
export interface ReviewRecord extends ReviewSubject {
  readonly from: string;
  readonly to: string;
  /** Ids of the tasks that are done again; empty in an approval. */
  readonly reopened: readonly string[];
}
