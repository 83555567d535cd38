// @devs/core/langgraph: the engine for any LangGraph graph, without the pipeline.

export { DEFAULT_PRICES, loadPrices, type ModelPrice, type PriceTable } from './config/prices.ts';
export { CheckpointWindow } from './orchestration/CheckpointWindow.ts';
export type { DriveOptions } from './orchestration/drive.ts';
export type { AcceptedGraph, GraphAcceptance } from './orchestration/durable/acceptGraph.ts';
export {
  DurableApp,
  type GateAnswer,
  type RunOptions,
  type RunResult,
} from './orchestration/durable/DurableApp.ts';
export type { GatePolicies, GatePolicy } from './orchestration/durable/decideByPolicy.ts';
export type { DeclaredGate } from './orchestration/durable/entry.ts';
export type { Gate } from './orchestration/durable/Gate.ts';
export type { DeclaredChanges } from './orchestration/durable/GraphMapping.ts';
export type { NotAcceptedReason } from './orchestration/durable/notAccepted.ts';
export { progress } from './orchestration/durable/progress.ts';
export { type StepCall, type StepFunction, type StepOptions, step } from './orchestration/durable/step.ts';
export { type DurableOptions, durable } from './orchestration/durable.ts';
export type { EntropyScore, EntropyShare } from './orchestration/entropy/EntropyMeter.ts';
export type { EntropyPartName } from './orchestration/entropy/EntropyPart.ts';
export { type EntropyOptions, scoreEntropy } from './orchestration/entropy/scoreEntropy.ts';
export type { TestCounts, Turn } from './orchestration/entropy/Turn.ts';
export {
  FlatIterativeAdapter,
  type FlatRunOptions,
  runGraphIteratively,
} from './orchestration/flatIterativeAdapter.ts';
export type { CompiledLangGraph } from './orchestration/frames/CompiledLangGraph.ts';
export { GraphSuspendedSignal } from './orchestration/GraphSuspendedSignal.ts';
export type { Budget, BudgetLimits } from './orchestration/guards/Budget.ts';
export { callUsage } from './orchestration/guards/usage.ts';
export type { CallUsage, LangChainUsage, UsageReport } from './orchestration/ports.ts';
export { recurse, recurseAll } from './orchestration/recurse.ts';
export {
  checkRecursionDepth,
  type LangGraphContext,
  type RecursionCheckResult,
} from './orchestration/recursionGuard.ts';
export { SqliteSaver, type SqliteSaverOptions } from './orchestration/SqliteSaver.ts';
export type { SaverLimits } from './orchestration/saver/limits.ts';
export type { PrunePolicy } from './orchestration/saver/retainedCheckpoints.ts';
export { StrictSerde, type StrictSerdeOptions } from './orchestration/saver/StrictSerde.ts';
export { WindowedSaver, type WindowedSaverOptions } from './orchestration/WindowedSaver.ts';
