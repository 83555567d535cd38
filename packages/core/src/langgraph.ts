/**
 * The engine for any LangGraph graph, without the pipeline.
 *
 * @module @devs/core/langgraph
 */

export { DEFAULT_LIMITS, type Limits, MAX_LIMITS } from './config/limits.ts';
export { DEFAULT_PRICES, loadPrices, type ModelPrice, type PriceTable } from './config/prices.ts';
export type { AcceptedGraph, GraphAcceptance } from './engine/change/acceptGraph.ts';
export type { DeclaredChanges } from './engine/change/GraphMapping.ts';
export type { NotAcceptedReason } from './engine/change/notAccepted.ts';
export { DurableApp } from './engine/DurableApp.ts';
export type { GatePolicies, GatePolicy } from './engine/drive/decideByPolicy.ts';
export type { DriveOptions } from './engine/drive/drive.ts';
export type { DriveDueOptions, DrivenDue } from './engine/drive/driveDue.ts';
export type { SignalOptions, SignalReceipt } from './engine/drive/signalRun.ts';
export { type DurableOptions, type DurableRuns, durable } from './engine/durable.ts';
export type { EntropyScore, EntropyShare } from './engine/entropy/EntropyMeter.ts';
export type { EntropyPartName } from './engine/entropy/EntropyPart.ts';
export { type EntropyOptions, scoreEntropy } from './engine/entropy/scoreEntropy.ts';
export type { TestCounts, Turn } from './engine/entropy/Turn.ts';
export { FileRuns } from './engine/files/FileRuns.ts';
export type { FollowOptions } from './engine/files/followRun.ts';
export type { RunsApp } from './engine/files/RunsApp.ts';
export type { CompiledLangGraph } from './engine/frames/CompiledLangGraph.ts';
export {
  FlatIterativeAdapter,
  type FlatRunOptions,
  type FrameCheckpoint,
  runGraphIteratively,
} from './engine/frames/flatIterativeAdapter.ts';
export { recurse, recurseAll } from './engine/frames/recurse.ts';
export type { ClosedGate, Gate, GateAnswer, GateVote } from './engine/Gate.ts';
export type { Approvals, RecordedApprovals } from './engine/gates/approvals.ts';
export type { GateComment } from './engine/gates/comments.ts';
export type { AnswerSchema, DeclaredGate, GateOf } from './engine/gates/DeclaredGate.ts';
export type { Deadline } from './engine/gates/deadlines.ts';
export { GraphSuspendedSignal } from './engine/gates/GraphSuspendedSignal.ts';
export { type RevealedPlace, revealedPlaces } from './engine/gates/hiddenPlaces.ts';
export { type GatedToolCall, perToolCall, type ToolCallGate } from './engine/gates/perToolCall.ts';
export { withPlaceholders } from './engine/gates/placeholders.ts';
export type { ShownPlace, SinceQuoted } from './engine/gates/quotes.ts';
export type { Budget, BudgetLimits } from './engine/guards/Budget.ts';
export {
  checkRecursionDepth,
  type LangGraphContext,
  type RecursionCheckResult,
  type RecursionGuardOptions,
} from './engine/guards/recursionGuard.ts';
export { type CallUsage, callUsage, type LangChainUsage, type UsageReport } from './engine/guards/usage.ts';
export { type AppOf, type ChildResult, child } from './engine/node/child.ts';
export { type SleepOptions, sleep } from './engine/node/sleep.ts';
export { type StepCall, type StepFunction, type StepOptions, step } from './engine/node/step.ts';
export { progress } from './engine/node/visitContext.ts';
export { type Waited, type WaitForOptions, waitFor } from './engine/node/waitFor.ts';
export type { RunOptions, RunStartOptions } from './engine/RunOptions.ts';
export type { RunDetails, RunError, RunInfo, RunOutcome, RunResult } from './engine/RunResult.ts';
export type { Deleted, Expiry } from './engine/runs/deleteRuns.ts';
export type { Fork, Forked } from './engine/runs/forkRun.ts';
export type { GatePage } from './engine/runs/inbox.ts';
export type { RunFilter, RunPage } from './engine/runs/listRuns.ts';
export type { PageRequest } from './engine/runs/pages.ts';
export type {
  HeldRun,
  HeldRunEnd,
  IndexedRun,
  LookedAtRun,
  NewRunFile,
  RunDriver,
  RunIndex,
  RunPlace,
  RunQueue,
  RunSignal,
  Runs,
} from './engine/runs/Runs.ts';
export type { HistoryOptions, RunSnapshot, SnapshotOptions } from './engine/runs/snapshots.ts';
export type { StateUpdate } from './engine/runs/updateRun.ts';
export { CheckpointWindow } from './engine/saver/CheckpointWindow.ts';
export type { PrunePolicy } from './engine/saver/retainedCheckpoints.ts';
export { type SaverLimits, SqliteSaver, type SqliteSaverOptions } from './engine/saver/SqliteSaver.ts';
export { StrictSerde, type StrictSerdeOptions } from './engine/saver/StrictSerde.ts';
export { WindowedSaver, type WindowedSaverOptions } from './engine/saver/WindowedSaver.ts';
export { type ShownGate, shownGate } from './engine/shownGate.ts';
export { SqliteStore, type SqliteStoreOptions } from './engine/store/SqliteStore.ts';
export { maskStream } from './engine/stream/maskStream.ts';
export type {
  CustomChunk,
  GateOpened,
  LastingEvent,
  Restarted,
  RunEnded,
  StreamEvent,
  StreamMode,
  TokensChunk,
  UpdatesChunk,
  ValuesChunk,
} from './engine/stream/StreamEvent.ts';
export type { StreamsOptions } from './engine/stream/StreamsOptions.ts';
export type { StreamOptions } from './engine/stream/streamRun.ts';
export type { Activity, ActivityListener, ActivityScope, OnActivity, PlanEntry } from './events/Activity.ts';
export type { HiddenRecord } from './events/events.ts';
export type { HiddenPlace } from './masking/maskAtGate.ts';
