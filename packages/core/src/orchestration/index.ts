export { type DurableOptions, durable } from '../engine/app/durable.ts';
export { GraphSuspendedSignal } from '../engine/gates/GraphSuspendedSignal.ts';
export {
  type GateEvaluationInput,
  type GateEvaluationResult,
  type GateStatus,
  TaskFailureGate,
} from '../engine/gates/TaskFailureGate.ts';
export { SqliteSaver } from '../engine/saver/SqliteSaver.ts';
export * from './graph.ts';
export * from './hitl.ts';
export * from './robustness.ts';
