/**
 * The engine for any LangGraph graph, without the pipeline. A name here is a promise and has a page.
 *
 * @module @devs/core/langgraph
 */

export type { Limits } from './config/limits.ts';
export { createDatabase } from './db/createDatabase.ts';
export { recordedModel } from './engine/agent/recordedModel.ts';
export { recordedTools } from './engine/agent/recordedTools.ts';
export { DurableApp } from './engine/app/DurableApp.ts';
export { type DurableOptions, durable } from './engine/app/durable.ts';
export type { UpgradeCheck } from './engine/change/takeGraph.ts';
export type {
  NotFailed,
  RunDetails,
  RunError,
  RunInfo,
  RunOutcome,
  RunResult,
} from './engine/drive/RunResult.ts';
export type { SignalOptions, SignalReceipt } from './engine/drive/signals.ts';
export type { PauseOptions } from './engine/drive/stopRequests.ts';
export type { WorkOptions } from './engine/drive/work.ts';
export { scoreEntropy } from './engine/entropy/scoreEntropy.ts';
export type { RunOptions } from './engine/file/RunOptions.ts';
export { FlatIterativeAdapter, runGraphIteratively } from './engine/frames/flatIterativeAdapter.ts';
export { type CompiledLangGraph, recurse, recurseAll } from './engine/frames/recurse.ts';
export { type DeclaredGate, perToolCall } from './engine/gates/DeclaredGate.ts';
export { type ClosedGate, type Gate, type GateAnswer, shownGate } from './engine/gates/Gate.ts';
export { GraphSuspendedSignal } from './engine/gates/GraphSuspendedSignal.ts';
export { gateInterrupt, resumeAnswer } from './engine/gates/gateInterrupt.ts';
export type { DeclaredChanges } from './engine/graph/graphShape.ts';
export type { Budget } from './engine/guards/Budget.ts';
export {
  checkRecursionDepth,
  type LangGraphContext,
  type RecursionCheckResult,
} from './engine/guards/recursionGuard.ts';
export { type CallUsage, callUsage } from './engine/guards/usage.ts';
export { interrupt } from './engine/node/interrupt.ts';
export { progress } from './engine/node/nodeContext.ts';
export { type StepOptions, step } from './engine/node/step.ts';
export { child, sleep, type WaitResult, waitFor } from './engine/node/waitFor.ts';
export { FileRuns } from './engine/remote/FileRuns.ts';
export type { Runs } from './engine/runs/Runs.ts';
export { SqliteSaver } from './engine/saver/SqliteSaver.ts';
export { SqliteStore } from './engine/store/SqliteStore.ts';
export { maskStream } from './engine/stream/maskStream.ts';
export type { StreamEvent } from './engine/stream/StreamEvent.ts';
export type { ExportOptions } from './engine/transfer/exportThread.ts';
export type { ImportedThread, ImportOptions } from './engine/transfer/importThread.ts';
export { DevsError, type ErrorCode, isDevsError } from './errors/DevsError.ts';
export { scrub } from './masking/scrub.ts';
export type { GateEvent } from './state/events/EventStore.ts';
export type { Principal } from './state/gates/hitlSession.ts';
