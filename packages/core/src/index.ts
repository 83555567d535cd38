/**
 * The public API of @devs/core: the engine, the state file and the pipeline. A name here is a promise and has a page;
 * named exports only.
 *
 * @module @devs/core
 */

export { CHECKPOINT_WINDOW, HITL_ENTROPY_THRESHOLD, MAX_RECURSION_DEPTH } from './config/defaults.ts';
export { loadOrchestratorConfig } from './config/orchestratorConfig.ts';
export {
  type GateEvaluationInput,
  type GateEvaluationResult,
  TaskFailureGate,
} from './engine/gates/TaskFailureGate.ts';
export { ERROR_CODES } from './errors/DevsError.ts';
export type { Activity } from './events/Activity.ts';
export { EventBus, type EventName, type OrchestratorEvents } from './events/events.ts';
export * from './langgraph.ts';
export { secretRegistry } from './masking/SecretRegistry.ts';
export type { GateEdit } from './orchestration/gates/pipelineGates.ts';
export {
  approveDesignNode,
  approveTaskDagNode,
  designNode,
  distillNode,
  implementNode,
  OrchestrationGraph,
  researchNode,
  routeAfterVerify,
  type VerifyRoute,
  verifyNode,
} from './orchestration/graph.ts';
export { HumanInTheLoopManager } from './orchestration/hitl.ts';
export { documentFiles } from './orchestration/nodes/documents.ts';
export type {
  AgentCall,
  AnswerRequest,
  AnswerResult,
  CheckRequest,
  CheckResult,
  Checks,
  DesignRequest,
  DistillRequest,
  DocumentsResult,
  DraftDocument,
  FileEdit,
  PivotRequest,
  PivotResult,
  PlanResult,
  ResearchRequest,
  ReviewRequest,
  ReviewResult,
  RunWorkspace,
  StageAgents,
  TaskRequest,
  TestCase,
  WorkResult,
  Workspace,
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
export {
  createInitialState,
  type ErrorKind,
  type ErrorRecord,
  type GraphState,
  OrchestratorAnnotation,
  type OrchestratorState,
  type RequirementRecord,
  type TaskRecord,
} from './orchestration/types.ts';
export * from './state.ts';
export { Orchestrator, type OrchestratorOptions, type StartOptions } from './surface/Orchestrator.ts';
export { type DriveRunOptions, Run } from './surface/Run.ts';
export type { LogEntry, PipelineResult, PipelineRunInfo } from './surface/views.ts';
