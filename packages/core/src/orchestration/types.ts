import { Annotation } from '@langchain/langgraph';
import type { RaisedSuspension as EngineSuspension } from '../engine/execution/nodeExecution.ts';
import type { GateComment } from '../engine/gates/answerForms.ts';
import type { HitlSessionKind } from '../state/gates/hitlSession.ts';
import type { Baseline } from './checks/CheckSummary.ts';
import { emptyState } from './emptyState.ts';
import type {
  CheckResult,
  CodeReview,
  CriterionEvidence,
  ReviewRecord,
  ReviewScope,
  TaskKind,
  TestLoss,
} from './ports.ts';

export type { HitlSessionKind };

// The state of the pipeline. Plain JSON only: no Date, Map or class. Times are ISO 8601, UTC.

export type ProjectStatus =
  | 'initializing'
  | 'researching'
  | 'specifying'
  | 'planning'
  | 'implementing'
  | 'completed'
  | 'failed'
  /** Only in interrupt payloads and read models: the node that waits has not returned. */
  | 'paused_for_approval'
  | 'error'
  | 'strategy_pivot';

export type DocumentStatus = 'draft' | 'approved' | 'superseded';
export type RequirementStatus = 'pending' | 'active' | 'satisfied' | 'blocked';
export type EpicStatus = 'pending' | 'active' | 'completed' | 'failed';
export type TaskStatus =
  | 'pending'
  | 'in_progress'
  | 'completed'
  | 'failed'
  | 'blocked'
  | 'resumed'
  /** A person gave it up; that is no failure. */
  | 'skipped';
export type AgentId = 'researcher' | 'architect' | 'developer' | 'reviewer';
export type ErrorKind = 'transient' | 'logic' | 'unknown';
export type HitlGate = 'design_approval' | 'dag_approval';

export interface ProjectConfig {
  readonly projectId: string;
  readonly name: string;
  readonly description: string;
  readonly status: ProjectStatus;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** After what a human is shown the code; absent: never. */
  readonly review?: ReviewScope;
  /** Folder of the repository that the documents of the run are put into; absent: none. */
  readonly documentsDir?: string;
  /** How the checks went before the first paid call; absent before it, in a run of an older release, and where there was nothing to check. */
  readonly baseline?: Baseline;
  /** Cases that a check of this run has seen fail and pass on the same files, besides those of the baseline. */
  readonly flaky?: readonly string[];
  /** What failed when a human was asked about red checks; absent once they were taken again. */
  readonly failedBefore?: readonly string[];
  /** Git trees on which the proposals now shown were made. */
  readonly proposedOn?: Readonly<Partial<Record<HitlGate, string>>>;
  /** Files that the design names and the repository does not have, after its agent was told. */
  readonly unknownFiles?: readonly string[];
}

export interface DocumentRecord {
  readonly documentId: string;
  readonly projectId: string;
  /** `BRIEF`, `PRD`, `TAS`, … */
  readonly type: string;
  readonly title: string;
  readonly content: string;
  readonly status: DocumentStatus;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The stage that wrote it; absent for one that was given. */
  readonly stage?: 'research' | 'design';
}

export interface RequirementRecord {
  readonly requirementId: string;
  readonly projectId: string;
  readonly externalId: string;
  readonly description: string;
  readonly status: RequirementStatus;
  readonly dependsOn: readonly string[];
}

export interface EpicRecord {
  readonly epicId: string;
  readonly projectId: string;
  readonly name: string;
  readonly description: string;
  readonly status: EpicStatus;
  readonly phaseNumber: number;
  readonly requirementIds: readonly string[];
}

export interface TaskRecord {
  /** Issued by the engine, unique in the file: `${projectId}:${n}`. */
  readonly taskId: string;
  readonly epicId: string;
  readonly name: string;
  readonly description: string;
  readonly status: TaskStatus;
  readonly agentRole: AgentId;
  readonly dependsOn: readonly string[];
  readonly gitHash?: string;
  readonly requirementIds?: readonly string[];
  readonly acceptanceCriteria?: readonly string[];
  /** The reviewer's evidence for the criteria. */
  readonly evidence?: readonly CriterionEvidence[];
  /** Number of attempts; stored if a review can reopen the task. */
  readonly attempts?: number;
  /** How the task's work is verified. @defaultValue 'test-first' */
  readonly kind?: TaskKind;
  /** Of a `checked-by` task: a command without a shell, or `review`. */
  readonly checkedBy?: string;
  /** Files that `writeTest` wrote; `implement` does not change them. */
  readonly testFiles?: readonly string[];
  /** The checks that accepted its work; stored until the next task is completed. */
  readonly green?: CheckedTree;
  /** Tests that its work removes or weakens. */
  readonly losses?: readonly TestLoss[];
  /** The agent's message for its commit. */
  readonly commitMessage?: string;
  /** Problems of its evidence, one line each. */
  readonly findings?: readonly string[];
  /** The words of the agent that reviewed it, the first part of long ones. */
  readonly reviewerSaid?: string;
}

/** What the checks said of a tree. */
export interface CheckedTree {
  /** Git tree. */
  readonly tree: string;
  /** Of its output, the end. */
  readonly check: CheckResult;
}

export interface AgentLogRecord {
  readonly logId: string;
  readonly taskId: string;
  readonly turnIndex: number;
  readonly agentId: AgentId;
  readonly content: { readonly thought: string; readonly action: string; readonly observation: string };
  readonly metadata: {
    readonly version: '1.0.0';
    readonly task_id: string;
    readonly timestamp: string;
    readonly confidence: number;
    readonly estimated_complexity: 'low' | 'medium' | 'high';
  };
}

export interface EntropyRecord {
  /** SHA-256, hex. */
  readonly outputHash: string;
  readonly seenAt: string;
  readonly taskId: string;
  readonly loopCount: number;
}

export interface HitlApprovalSignal {
  readonly approved: boolean;
  readonly feedback?: string;
  /** Of a rejection. */
  readonly comments?: readonly GateComment[];
  readonly approvedBy?: string;
  readonly approvedAt?: string;
}

export interface HitlDecisionRecord {
  readonly gate: HitlGate | 'review';
  readonly signal: HitlApprovalSignal;
  readonly decidedAt: string;
  /** SHA-256 (hex) of what the gate showed. */
  readonly artifactHash?: string;
  /** Set where the human changed what was shown instead of deciding: the gate asks again, about the new version. */
  readonly edit?: EditRecord;
  /** Of a plan that was sent back: the highest task number issued until then; what is dropped is not issued again. */
  readonly lastTaskNumber?: number;
  /** Of a review: which code it was about. */
  readonly review?: ReviewRecord;
}

/** What became of what a gate showed; its author and time are in the decision's signal, the parent is its hash. */
export interface EditRecord {
  /** SHA-256 (hex) of the new version. */
  readonly artifactHash: string;
  /** Of a plan: the highest task number issued until then, so that a dropped task's number is not issued again. */
  readonly lastTaskNumber?: number;
}

export interface ErrorRecord {
  /** `err-{timestamp}-{random}`; in the graph both parts are derived, so a replay returns the same id. */
  readonly errorId: string;
  readonly capturedAt: string;
  readonly sourceNode: string;
  /** Masked. */
  readonly message: string;
  /** Masked. */
  readonly stackTrace: string;
  readonly kind: ErrorKind;
  readonly consecutiveCount: number;
  readonly taskId: string | null;
}

/** Of the pipeline: a review shows code, a red baseline what was printed. */
export interface PendingSuspension extends EngineSuspension {
  readonly review?: CodeReview;
  /** Of a red baseline: the end of what the checks printed. */
  readonly checkOutput?: string;
}

/** What LangGraph's error handler caught, already masked; read and cleared by the `error` node. */
export interface CapturedError {
  readonly node: string;
  readonly message: string;
  readonly stackTrace: string;
  readonly name: string;
}

/** A human's words for the next attempt at a task. */
export interface TaskGuidance {
  readonly taskId: string;
  readonly text: string;
}

export interface PivotRecord {
  readonly taskId: string;
  readonly strategy: string;
  /** SHA-256 (hex) of the normalised strategy. */
  readonly fingerprint: string;
  /** Why the agent chose it. */
  readonly reason: string;
}

/** Every channel of the pipeline. Each stores the last value; nodes return whole new arrays. */
export interface OrchestratorState {
  readonly projectConfig: ProjectConfig;
  readonly documents: readonly DocumentRecord[];
  readonly requirements: readonly RequirementRecord[];
  readonly epics: readonly EpicRecord[];
  readonly tasks: readonly TaskRecord[];
  /** The last 20; the journal has all. */
  readonly agentLogs: readonly AgentLogRecord[];
  readonly entropy: readonly EntropyRecord[];
  readonly activeEpicId: string | null;
  readonly activeTaskId: string | null;
  readonly status: ProjectStatus;
  readonly hitlDecisions: readonly HitlDecisionRecord[];
  readonly pendingApprovalGate: HitlGate | null;
  /** The last 20; counters stay exact. */
  readonly errorHistory: readonly ErrorRecord[];
  readonly implementationTurns: number;
  readonly pendingRecoveryNode: string | null;
  readonly pendingSuspension: PendingSuspension | null;
  readonly capturedError: CapturedError | null;
  /** LangGraph's step number at the last progress. */
  readonly progressStep: number;
  readonly guidance: readonly TaskGuidance[];
  readonly pivots: readonly PivotRecord[];
  /** Attempts at the active task, counted over pivots and answers of people. */
  readonly taskAttempts: number;
  /** Pivots of the active task since it started or a person retried it. */
  readonly taskPivots: number;
  readonly rejections: Readonly<Record<HitlGate, number>>;
}

/** A channel that holds the last value written; a run starts with that of an empty state. */
const lastValue = <T>(initial: (empty: ReturnType<typeof emptyState>) => T) =>
  Annotation<T>({ reducer: (_previous, next) => next, default: () => initial(emptyState()) });

export const OrchestratorAnnotation = Annotation.Root({
  projectConfig: Annotation<ProjectConfig>(),
  documents: lastValue<readonly DocumentRecord[]>((empty) => empty.documents),
  requirements: lastValue<readonly RequirementRecord[]>((empty) => empty.requirements),
  epics: lastValue<readonly EpicRecord[]>((empty) => empty.epics),
  tasks: lastValue<readonly TaskRecord[]>((empty) => empty.tasks),
  agentLogs: lastValue<readonly AgentLogRecord[]>((empty) => empty.agentLogs),
  entropy: lastValue<readonly EntropyRecord[]>((empty) => empty.entropy),
  activeEpicId: lastValue<string | null>((empty) => empty.activeEpicId),
  activeTaskId: lastValue<string | null>((empty) => empty.activeTaskId),
  status: lastValue<ProjectStatus>((empty) => empty.status),
  hitlDecisions: lastValue<readonly HitlDecisionRecord[]>((empty) => empty.hitlDecisions),
  pendingApprovalGate: lastValue<HitlGate | null>((empty) => empty.pendingApprovalGate),
  errorHistory: lastValue<readonly ErrorRecord[]>((empty) => empty.errorHistory),
  implementationTurns: lastValue<number>((empty) => empty.implementationTurns),
  pendingRecoveryNode: lastValue<string | null>((empty) => empty.pendingRecoveryNode),
  pendingSuspension: lastValue<PendingSuspension | null>((empty) => empty.pendingSuspension),
  capturedError: lastValue<CapturedError | null>((empty) => empty.capturedError),
  progressStep: lastValue<number>((empty) => empty.progressStep),
  guidance: lastValue<readonly TaskGuidance[]>((empty) => empty.guidance),
  pivots: lastValue<readonly PivotRecord[]>((empty) => empty.pivots),
  taskAttempts: lastValue<number>((empty) => empty.taskAttempts),
  taskPivots: lastValue<number>((empty) => empty.taskPivots),
  rejections: lastValue<Readonly<Record<HitlGate, number>>>((empty) => empty.rejections),
});

export type GraphState = typeof OrchestratorAnnotation.State;

/** Returns the state of a new project: empty collections, `null` ids, and the config's `status`. */
export function createInitialState(config: ProjectConfig): OrchestratorState {
  return { projectConfig: config, ...emptyState(), status: config.status };
}
