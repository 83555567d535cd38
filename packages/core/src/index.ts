/**
 * The public API of @devs/core. A name here is a promise; named exports only.
 *
 * @module @devs/core
 */

export { type Brief, parseBrief, runIdOf } from './brief/brief.ts';
export type { Given } from './brief/given.ts';
export { initialState } from './brief/initialState.ts';
export type { QuickWork } from './brief/quickWork.ts';

export {
  CHECKPOINT_WINDOW,
  HITL_ENTROPY_THRESHOLD,
  MAX_PIVOTS,
  MAX_RECURSION_DEPTH,
  STATE_FILE,
} from './config/defaults.ts';
export { loadOrchestratorConfig, type OrchestratorConfig } from './config/orchestratorConfig.ts';
export type { GateExchange } from './engine/asks.ts';
export {
  type GateEvaluationInput,
  type GateEvaluationResult,
  type GateStatus,
  TaskFailureGate,
} from './engine/guards/TaskFailureGate.ts';
export type { CheckpointPage, CheckpointValues, CheckpointView } from './engine/runs/checkpointViews.ts';
export {
  DevsError,
  type DevsErrorOptions,
  ERROR_CODES,
  type ErrorCode,
  isDevsError,
} from './errors/DevsError.ts';
export { endingWith } from './errors/endingWith.ts';
export type { ActivityListener, ActivityScope } from './events/Activity.ts';
export { EventBus, type EventSink, orchestratorEvents } from './events/EventBus.ts';
export type { EventName, EventScope, OrchestratorEvents } from './events/events.ts';
export * from './langgraph.ts';
export { isShownAtGate, leaveAtGate, maskAtGate, type ShownAtGate } from './masking/maskAtGate.ts';
export { maskCutText } from './masking/maskCutText.ts';
export { maskPrecise } from './masking/maskPrecise.ts';
export { maskStart } from './masking/maskStart.ts';
export { maskInTurns, maskView } from './masking/maskView.ts';
export type { SecretsOptions } from './masking/registerSecrets.ts';
export { SecretRegistry, secretRegistry } from './masking/SecretRegistry.ts';
export { MASK_REACH } from './masking/safeCut.ts';
export { scrub } from './masking/scrub.ts';
export { createStreamMasker, type StreamMasker, type StreamMaskerOptions } from './masking/streamMasker.ts';
export { oneLine, visibleJson, visibleText } from './masking/visibleText.ts';
export type { CodeReview, ReviewRecord, ReviewScope } from './orchestration/CodeReview.ts';
export { type Baseline, type CheckSummary, summariseCheck } from './orchestration/checks/CheckSummary.ts';
export type { FileVersions } from './orchestration/checks/FileVersions.ts';
export { failuresOf } from './orchestration/checks/failuresOf.ts';
export { isGreen } from './orchestration/checks/isGreen.ts';
export { isRed } from './orchestration/checks/isRed.ts';
export { isTestFile } from './orchestration/checks/isTestFile.ts';
export type { Judgement } from './orchestration/checks/Judgement.ts';
export { type ChangedTests, testLosses } from './orchestration/checks/testLosses.ts';
export type { DocumentFile } from './orchestration/documentFiles.ts';
export type { DocumentsEdit, GateEdit, PlanEdit } from './orchestration/gates/gateEdit.ts';
export {
  approveDesignNode,
  approveTaskDagNode,
  designNode,
  distillNode,
  implementNode,
  OrchestrationGraph,
  type OrchestrationGraphOptions,
  researchNode,
  routeAfterVerify,
  type VerifyRoute,
  verifyNode,
} from './orchestration/graph.ts';
export {
  type AskingNode,
  HitlSessionNotFoundError,
  HumanInTheLoopManager,
  type HumanInTheLoopManagerOptions,
  type PauseOptions,
  routeAfterApproveDesign,
  routeAfterApproveTaskDag,
  type SessionDecision,
  type SuspendedSession,
} from './orchestration/hitl.ts';
export { assertPlanEdit, type ShownPlan } from './orchestration/nodes/editedPlan.ts';
export { assertPlan } from './orchestration/nodes/plan.ts';
export { unknownFilesIn } from './orchestration/nodes/unknownFiles.ts';
export type {
  Activity,
  AdoptedTree,
  AdoptRequest,
  AgentCall,
  AnsweringStage,
  AnswerRequest,
  AnswerResult,
  AttemptReport,
  Author,
  BranchMove,
  Changes,
  CheckPart,
  CheckRequest,
  CheckResult,
  Checks,
  CodeOfRuns,
  CommitRange,
  CommitRequest,
  CommitView,
  CriterionEvidence,
  Delivery,
  DesignRequest,
  DistillRequest,
  DocumentsResult,
  DraftDocument,
  Driver,
  EpicDraft,
  Exchange,
  FileChange,
  FileEdit,
  GitPack,
  GitRecord,
  GitStand,
  Instructions,
  KeptGitPack,
  OnActivity,
  OpenOptions,
  PivotReason,
  PivotRequest,
  PivotResult,
  PlanEntry,
  PlanResult,
  Provenance,
  ReinstateRequest,
  RemovedWorkspace,
  RequirementDraft,
  Rescue,
  ResearchRequest,
  ReviewRequest,
  ReviewResult,
  RunWorkspace,
  StageAgents,
  Synced,
  TaskBrief,
  TaskDraft,
  TaskKind,
  TaskRequest,
  TestCase,
  TestLoss,
  TreeDiff,
  TriedStrategy,
  WithdrawRequest,
  WorkResult,
  Workspace,
  WorkspaceReader,
} from './orchestration/ports.ts';
export {
  buildErrorRecord,
  CONSECUTIVE_ERROR_PIVOT_THRESHOLD,
  checkTurnBudget,
  classifyError,
  countConsecutiveErrors,
  detectEntropy,
  ENTROPY_LOOP_THRESHOLD,
  type ErrorRoute,
  errorNode,
  findStaleOrDirtyStates,
  incrementTurnBudget,
  MAX_IMPLEMENTATION_TURNS,
  maskSensitiveData,
  pivotAgentNode,
  resetTurnBudget,
  routeAfterError,
  type StaleTaskInfo,
} from './orchestration/robustness.ts';
export type { PipelineDeps } from './orchestration/task/pipelineDeps.ts';
export type {
  AgentId,
  AgentLogRecord,
  DocumentRecord,
  DocumentStatus,
  EditRecord,
  EntropyRecord,
  EpicRecord,
  EpicStatus,
  ErrorKind,
  ErrorRecord,
  GraphState,
  HitlApprovalSignal,
  HitlDecisionRecord,
  HitlGate,
  OrchestratorState,
  ProjectConfig,
  ProjectStatus,
  RequirementRecord,
  RequirementStatus,
  TaskRecord,
  TaskStatus,
} from './orchestration/types.ts';
export { createInitialState, OrchestratorAnnotation } from './orchestration/types.ts';
export * from './state.ts';
export type { Adopted, Adoption } from './surface/adoptChanges.ts';
export type { AgentsIdentity } from './surface/agentsIdentity.ts';
export type { AskOptions } from './surface/ask/askGate.ts';
export type { LastComment } from './surface/comments/lastComments.ts';
export type { GraphEdge, GraphNode, GraphView } from './surface/graphView.ts';
export { type Departure, moveRunOut } from './surface/move/moveRunOut.ts';
export { type AgentsRef, type CarryGit, type PackedRun, packRun } from './surface/move/packRun.ts';
export { type Arrival, receiveRun } from './surface/move/receiveRun.ts';
export {
  type Collected,
  Orchestrator,
  type OrchestratorOptions,
  type RunListPage,
  type StartOptions,
  type StateNews,
} from './surface/Orchestrator.ts';
export type { RecordedRun } from './surface/RecordedRun.ts';
export { type DriveRunOptions, Run } from './surface/Run.ts';
export type { RecursionDepth } from './surface/recursionDepth.ts';
export type { Removal, RemovedRun } from './surface/removeRun.ts';
export type { RewindPlan, RewindRequest, Rewound } from './surface/rewind/rewindRun.ts';
export type { RewindUndone } from './surface/rewind/undoRewind.ts';
export type { RunningView } from './surface/runningView.ts';
export type { StepView } from './surface/stepView.ts';
export type { SyncedRun, SyncRequest } from './surface/syncRun.ts';
export type { OnGate } from './surface/tellGates.ts';
export type { TranscriptEntry, TranscriptQuery, TranscriptStage } from './surface/transcripts.ts';
export type {
  BudgetUse,
  LogEntry,
  PipelineResult,
  PipelineRunInfo,
  ReviewStatus,
  RewindView,
  TaskView,
} from './surface/views.ts';
