import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { DurableApp } from '../src/engine/app/DurableApp.ts';
import { ERROR_CODES } from '../src/errors/DevsError.ts';

// Pins what users can depend on. A change here is a change of the public surface: it needs a line in CHANGELOG.md.
// `vitest run publicSurface -u` accepts a change that is meant.

const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** What `scripts/names.mjs` reads in the sources: types are there as well. */
interface Survey {
  readonly entries: Readonly<Record<string, readonly string[]>>;
  readonly publicOfCore: readonly string[];
  readonly internal: readonly string[];
  readonly outsiders: readonly unknown[];
}

const script = fileURLToPath(new URL('../../../scripts/names.mjs', import.meta.url));
const survey = JSON.parse(
  spawnSync(process.execPath, [script, '--json'], { encoding: 'utf8' }).stdout,
) as Survey;

/** Names that are types alone. */
async function typesOf(entry: string, module: Promise<object>): Promise<readonly string[]> {
  const values = new Set(await namesOf(module));
  return (survey.entries[entry] ?? []).filter((name) => !values.has(name));
}

const namesOf = async (module: Promise<object>): Promise<readonly string[]> =>
  Object.keys(await module).sort((a, b) => (a < b ? -1 : 1));

/** The keys of the event map; it is a type, so they are read from its source. */
function eventNames(): readonly string[] {
  const source = readFileSync(new URL('../src/events/events.ts', import.meta.url), 'utf8');
  const map = /export interface OrchestratorEvents \{([\s\S]*?)\n\}/.exec(source)?.[1] ?? '';
  return [...map.matchAll(/^ {2}([A-Z_]+):/gm)].flatMap(([, name]) => name ?? []).sort();
}

describe('the public surface', () => {
  test('has these entry points', () => {
    expect(Object.keys((manifest as { exports: object }).exports)).toMatchInlineSnapshot(`
      [
        ".",
        "./langgraph",
        "./langchain",
        "./state",
        "./testing",
        "./internal",
        "./dist/db/migrate.js",
        "./package.json",
      ]
    `);
  });

  test('@devs/core exports these values', async () => {
    expect(await namesOf(import('../src/index.ts'))).toMatchInlineSnapshot(`
      [
        "CHECKPOINT_WINDOW",
        "CONSECUTIVE_ERROR_PIVOT_THRESHOLD",
        "CheckpointPersister",
        "DevsError",
        "DurableApp",
        "ENTROPY_LOOP_THRESHOLD",
        "ERROR_CODES",
        "EventBus",
        "FileRuns",
        "FlatIterativeAdapter",
        "GraphSuspendedSignal",
        "HITL_ENTROPY_THRESHOLD",
        "HumanInTheLoopManager",
        "MAX_IMPLEMENTATION_TURNS",
        "MAX_RECURSION_DEPTH",
        "OrchestrationGraph",
        "Orchestrator",
        "OrchestratorAnnotation",
        "Run",
        "SqliteSaver",
        "SqliteStore",
        "TaskFailureGate",
        "approveDesignNode",
        "approveTaskDagNode",
        "backup",
        "buildErrorRecord",
        "callUsage",
        "checkRecursionDepth",
        "checkTurnBudget",
        "child",
        "classifyError",
        "countConsecutiveErrors",
        "createDatabase",
        "createInitialState",
        "designNode",
        "detectEntropy",
        "distillNode",
        "doctor",
        "documentFiles",
        "durable",
        "errorNode",
        "findStaleOrDirtyStates",
        "gateInterrupt",
        "implementNode",
        "incrementTurnBudget",
        "interrupt",
        "isDevsError",
        "loadOrchestratorConfig",
        "maskSensitiveData",
        "maskStream",
        "openReadOnly",
        "perToolCall",
        "pivotAgentNode",
        "progress",
        "recordedModel",
        "recordedTools",
        "recurse",
        "recurseAll",
        "rekey",
        "researchNode",
        "resetTurnBudget",
        "resumeAnswer",
        "routeAfterError",
        "routeAfterVerify",
        "runGraphIteratively",
        "runMigrations",
        "scoreEntropy",
        "scrub",
        "secretRegistry",
        "shownGate",
        "sleep",
        "step",
        "verifyNode",
        "waitFor",
      ]
    `);
  });

  test('@devs/core/langchain exports these values', async () => {
    expect(await namesOf(import('../src/langchain.ts'))).toMatchInlineSnapshot(`
      [
        "recordCalls",
        "recordedSubagents",
      ]
    `);
  });

  test('@devs/core/langgraph exports these values', async () => {
    expect(await namesOf(import('../src/langgraph.ts'))).toMatchInlineSnapshot(`
      [
        "DevsError",
        "DurableApp",
        "FileRuns",
        "FlatIterativeAdapter",
        "GraphSuspendedSignal",
        "SqliteSaver",
        "SqliteStore",
        "callUsage",
        "checkRecursionDepth",
        "child",
        "createDatabase",
        "durable",
        "gateInterrupt",
        "interrupt",
        "isDevsError",
        "maskStream",
        "perToolCall",
        "progress",
        "recordedModel",
        "recordedTools",
        "recurse",
        "recurseAll",
        "resumeAnswer",
        "runGraphIteratively",
        "scoreEntropy",
        "scrub",
        "shownGate",
        "sleep",
        "step",
        "waitFor",
      ]
    `);
  });

  test('@devs/core/state exports these values', async () => {
    expect(await namesOf(import('../src/state.ts'))).toMatchInlineSnapshot(`
      [
        "CheckpointPersister",
        "backup",
        "createDatabase",
        "doctor",
        "openReadOnly",
        "rekey",
        "runMigrations",
      ]
    `);
  });

  test('@devs/core/testing exports these values', async () => {
    expect(await namesOf(import('../src/testing/index.ts'))).toMatchInlineSnapshot(`
      [
        "MemoryRuns",
        "MemoryWorkspace",
        "SkippingClock",
        "fakeAgents",
        "scriptedChecks",
        "testApp",
      ]
    `);
  });

  test('@devs/core exports these types', async () => {
    expect(await typesOf('@devs/core', import('../src/index.ts'))).toMatchInlineSnapshot(`
      [
        "Activity",
        "AgentCall",
        "AnswerRequest",
        "AnswerResult",
        "Budget",
        "CallUsage",
        "CheckRequest",
        "CheckResult",
        "Checks",
        "ClosedGate",
        "CompiledLangGraph",
        "DeclaredChanges",
        "DeclaredGate",
        "DesignRequest",
        "DistillRequest",
        "DoctorReport",
        "DocumentsResult",
        "DraftDocument",
        "DriveRunOptions",
        "DurableOptions",
        "ErrorCode",
        "ErrorKind",
        "ErrorRecord",
        "ErrorRoute",
        "EventName",
        "ExportOptions",
        "FileEdit",
        "Gate",
        "GateAnswer",
        "GateEdit",
        "GateEvaluationInput",
        "GateEvaluationResult",
        "GateEvent",
        "GraphState",
        "ImportOptions",
        "ImportedThread",
        "LangGraphCheckpoint",
        "LangGraphContext",
        "Limits",
        "LogEntry",
        "NotFailed",
        "OrchestratorEvents",
        "OrchestratorOptions",
        "OrchestratorState",
        "PauseOptions",
        "PipelineResult",
        "PipelineRunInfo",
        "PivotRequest",
        "PivotResult",
        "PlanResult",
        "Principal",
        "RecursionCheckResult",
        "RequirementRecord",
        "ResearchRequest",
        "ReviewRequest",
        "ReviewResult",
        "RunDetails",
        "RunError",
        "RunInfo",
        "RunOptions",
        "RunOutcome",
        "RunResult",
        "RunWorkspace",
        "Runs",
        "SignalOptions",
        "SignalReceipt",
        "StageAgents",
        "StaleTaskInfo",
        "StartOptions",
        "StepOptions",
        "StreamEvent",
        "TaskRecord",
        "TaskRequest",
        "TestCase",
        "UpgradeCheck",
        "VerifyRoute",
        "WaitResult",
        "WorkOptions",
        "WorkResult",
        "Workspace",
      ]
    `);
  });

  test('@devs/core/langgraph exports these types', async () => {
    expect(await typesOf('@devs/core/langgraph', import('../src/langgraph.ts'))).toMatchInlineSnapshot(`
      [
        "Budget",
        "CallUsage",
        "ClosedGate",
        "CompiledLangGraph",
        "DeclaredChanges",
        "DeclaredGate",
        "DurableOptions",
        "ErrorCode",
        "ExportOptions",
        "Gate",
        "GateAnswer",
        "GateEvent",
        "ImportOptions",
        "ImportedThread",
        "LangGraphContext",
        "Limits",
        "NotFailed",
        "PauseOptions",
        "Principal",
        "RecursionCheckResult",
        "RunDetails",
        "RunError",
        "RunInfo",
        "RunOptions",
        "RunOutcome",
        "RunResult",
        "Runs",
        "SignalOptions",
        "SignalReceipt",
        "StepOptions",
        "StreamEvent",
        "UpgradeCheck",
        "WaitResult",
        "WorkOptions",
      ]
    `);
  });

  test('@devs/core/state exports these types', async () => {
    expect(await typesOf('@devs/core/state', import('../src/state.ts'))).toMatchInlineSnapshot(`
      [
        "DoctorReport",
        "LangGraphCheckpoint",
        "Principal",
      ]
    `);
  });

  test('@devs/core/testing exports these types', async () => {
    expect(await typesOf('@devs/core/testing', import('../src/testing/index.ts'))).toEqual([]);
  });

  test('the other packages export these names', () => {
    const others = Object.entries(survey.entries).filter(([entry]) => !entry.startsWith('@devs/core'));
    expect(Object.fromEntries(others)).toMatchInlineSnapshot(`
      {
        "@devs/agents": [
          "AcpAgentsOptions",
          "CheckSuite",
          "CommandAgentsOptions",
          "CommandChecks",
          "CommandChecksOptions",
          "GitWorkspace",
          "GitWorkspaceOptions",
          "ModelAgentsOptions",
          "ReplayAgents",
          "Sandbox",
          "SteadyChecks",
          "acpAgents",
          "agentsPerStage",
          "bubblewrap",
          "commandAgents",
          "customSandbox",
          "findSandbox",
          "modelAgents",
          "recordingAgents",
        ],
        "@devs/agents/internal": [
          "ACP_PROGRAMS",
          "FilteredFile",
          "FoundNetworkSettings",
          "MODEL_STAGES",
          "ModelStage",
          "NEWEST_PROMPTS",
          "RECIPES",
          "UnshownFile",
          "askGit",
          "checkKind",
          "findNetworkSettings",
          "hideFromStatus",
          "isAcpName",
          "isModelName",
          "isRecipeName",
          "planShape",
        ],
        "@devs/cli": [
          "EXIT",
          "Io",
          "main",
        ],
        "@devs/mcp": [
          "OrchestratorServer",
          "OrchestratorServerOptions",
        ],
        "@devs/postgres": [
          "ClusterAdmin",
          "PostgresOptions",
          "PostgresRuns",
          "Worker",
          "WorkerEvent",
          "WorkerOptions",
          "jobsSql",
          "postgres",
          "requireTenant",
          "rightsSql",
          "rowSecuritySql",
          "schemaSql",
        ],
        "@devs/server": [
          "ActedOn",
          "Action",
          "Authorize",
          "OwnedRun",
          "OwnerFields",
          "ServerHandler",
          "ServerLimits",
          "ServerOptions",
          "Verdict",
          "createServer",
        ],
        "@devs/ui": [
          "OneTimeCodes",
          "UiHandler",
          "UiOptions",
          "createUi",
          "listener",
          "serveOnLoopback",
        ],
      }
    `);
  });

  test('is small, and nobody but the sources of sibling packages takes an internal name', () => {
    // Two above 160, for clients of LangGraph: a gate as they show it, and their answer as `decide` takes it.
    expect(survey.publicOfCore.length).toBeLessThanOrEqual(162);
    expect(survey.internal.length).toBeLessThanOrEqual(64);
    expect(survey.outsiders).toEqual([]);
  });

  test('an app has these methods, and nothing of the pipeline', () => {
    expect(Object.getOwnPropertyNames(DurableApp.prototype).sort()).toMatchInlineSnapshot(`
      [
        "acceptGraph",
        "cancel",
        "checkUpgrade",
        "close",
        "compact",
        "constructor",
        "create",
        "decide",
        "delete",
        "deleteOlderThan",
        "exportThread",
        "exportTrace",
        "follow",
        "fork",
        "gateEvents",
        "gates",
        "get",
        "getState",
        "getStateHistory",
        "importThread",
        "list",
        "openGates",
        "pause",
        "prune",
        "result",
        "revive",
        "run",
        "runDue",
        "schedule",
        "schedules",
        "sendWebhooks",
        "signal",
        "start",
        "stream",
        "tend",
        "turns",
        "undelivered",
        "unschedule",
        "updateMetadata",
        "updateState",
        "values",
        "work",
      ]
    `);
  });

  test('errors carry one of these codes', () => {
    expect([...ERROR_CODES]).toEqual([...ERROR_CODES].sort());
    expect(ERROR_CODES).toMatchInlineSnapshot(`
      [
        "AGENT_FAILED",
        "AGENT_INVALID_OUTPUT",
        "AGENT_MAY_NOT_DECIDE",
        "ALREADY_VOTED",
        "ASK_UNSUPPORTED",
        "BUDGET_SPENT",
        "CHECKPOINT_NOT_FOUND",
        "CHILD_NOT_TAKEN",
        "CONFIG_INVALID",
        "CONFIG_NOT_TRUSTED",
        "DAG_INVALID",
        "FEEDBACK_REQUIRED",
        "GATE_ALREADY_DECIDED",
        "GATE_HIDDEN",
        "GATE_NOT_FOUND",
        "GATE_NOT_READY",
        "GATE_STALE",
        "GITHUB_FAILED",
        "GRAPH_CHANGED",
        "GRAPH_NOT_ACCEPTED",
        "INPUT_NOT_TAKEN",
        "INTERRUPT_IN_EDGE",
        "INVALID_ANSWER",
        "INVALID_INPUT",
        "INVALID_PRINCIPAL",
        "JOURNAL_DEGRADED",
        "LEASE_LOST",
        "MAY_NOT_APPROVE",
        "MIGRATION_EDITED",
        "MIGRATION_GAP",
        "NOT_KEPT",
        "NO_PROGRESS",
        "PATH_REFUSED",
        "POLICY_NOT_DECLARED",
        "QUOTE_NOT_SHOWN",
        "REMOVE_REFUSED",
        "REPLAY_MISS",
        "REWIND_CONFLICT",
        "REWIND_REFUSED",
        "RUN_ELSEWHERE",
        "RUN_FAILED",
        "SANDBOX_MISSING",
        "SCHEMA_FOREIGN",
        "SCHEMA_TOO_NEW",
        "SIGNAL_NOT_TAKEN",
        "STATE_BUSY",
        "STATE_CORRUPT",
        "STATE_DISK_FULL",
        "STATE_IO",
        "STATE_KEY_MISMATCH",
        "STATE_NOT_TRUSTED",
        "STATE_REPLACED",
        "STEP_AMBIGUOUS",
        "STORE_UNSUPPORTED",
        "STREAM_NOT_KEPT",
        "SYNC_CONFLICT",
        "THREAD_BUSY",
        "THREAD_DEAD",
        "THREAD_EXISTS",
        "THREAD_NOT_FOUND",
        "THREAD_NOT_OURS",
        "TRANSFER_REFUSED",
        "UPDATE_REFUSED",
        "USE_DECIDE",
        "VALUE_NOT_STORABLE",
        "VALUE_TOO_LARGE",
        "WORKSPACE_BUSY",
        "WORKSPACE_DIRTY",
        "WORKSPACE_FAILED",
      ]
    `);
  });

  test('events carry one of these names', () => {
    expect(eventNames()).toMatchInlineSnapshot(`
      [
        "AGENTS_CHANGED",
        "AGENT_ASKED",
        "CALL_NOT_RECORDED",
        "CHANGES_ADOPTED",
        "CHECKPOINT_SAVE_FAILED",
        "FAILURE_GATE_OPENED",
        "GATE_ASKED",
        "GATE_REASSIGNED",
        "GATE_REMINDED",
        "GATE_REVEALED",
        "GATE_SHOWN",
        "GATE_VOTED",
        "GOAL_REACHED",
        "GOAL_SET",
        "GRAPH_ACCEPTED",
        "GRAPH_TAKEN",
        "GUARD_SUPPRESSED",
        "GUARD_TRIPPED",
        "GUARD_WARNED",
        "HITL_ANSWER_REFUSED",
        "HITL_ANSWER_VOIDED",
        "HITL_SESSION_DECIDED",
        "HITL_SESSION_OPENED",
        "LEASE_LOST",
        "NODE_FAILED",
        "NODE_FINISHED",
        "NODE_STARTED",
        "PIVOTED",
        "RECURSION_DEPTH_WARNING",
        "RECURSION_LIMIT_REACHED",
        "RETRIED",
        "REWIND_UNDONE",
        "REWOUND",
        "RUN_DEGRADED",
        "RUN_FINISHED",
        "RUN_FORKED",
        "RUN_IMPORTED",
        "RUN_RECOVERED",
        "RUN_REMOVED",
        "RUN_REVIVED",
        "RUN_SUSPENDED",
        "RUN_SYNCED",
        "SANDBOX_WAIVED",
        "SECRET_REDACTED",
        "SIGNAL_PASSED_OVER",
        "SIGNAL_RECEIVED",
        "SIGNAL_TAKEN",
        "STATE_UPDATED",
        "STEP_FINISHED",
        "STOP_REQUESTED",
        "TASK_BLOCKED",
        "TASK_COMPLETED",
        "TASK_FAILED",
        "TASK_REOPENED",
        "TASK_SKIPPED",
        "TIMER_FIRED",
        "TRANSCRIPT_LOST",
        "USAGE_REFUSED",
        "WORKSPACE_RESCUED",
      ]
    `);
  });
});
