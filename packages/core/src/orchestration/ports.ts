// What the pipeline needs from outside: agents that propose, a workspace that holds files, checks that judge.
// `@devs/agents` implements them; a test passes literals. Everything returned is plain JSON.

import type { UsageReport } from '../engine/guards/usage.ts';
import type { Activity, OnActivity, PlanEntry } from '../events/Activity.ts';
import type { HitlSessionKind } from '../state/hitlSession.ts';
import type { CheckResult } from './checksPort.ts';
import type { FileChange, FileEdit, WorkspaceReader } from './workspacePort.ts';

export type * from './checksPort.ts';
export type * from './workspacePort.ts';
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
