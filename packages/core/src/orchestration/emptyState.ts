/**
 * What the channels hold before anybody has written them, anew with each call and in the order in which a state names them; the
 * project's config is not there then. Loads no LangGraph.
 */
export const emptyState = () => ({
  documents: [],
  requirements: [],
  epics: [],
  tasks: [],
  agentLogs: [],
  entropy: [],
  activeEpicId: null,
  activeTaskId: null,
  status: 'initializing' as const,
  hitlDecisions: [],
  pendingApprovalGate: null,
  errorHistory: [],
  implementationTurns: 0,
  pendingRecoveryNode: null,
  pendingSuspension: null,
  capturedError: null,
  progressStep: 0,
  guidance: [],
  pivots: [],
  taskAttempts: 0,
  taskPivots: 0,
  rejections: { design_approval: 0, dag_approval: 0 },
});
