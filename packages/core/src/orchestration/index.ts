export { type DurableOptions, durable } from './durable.ts';
export { GraphSuspendedSignal } from './GraphSuspendedSignal.ts';
export * from './graph.ts';
export * from './hitl.ts';
export * from './robustness.ts';
export { SqliteSaver } from './SqliteSaver.ts';
export {
  type GateEvaluationInput,
  type GateEvaluationResult,
  type GateStatus,
  TaskFailureGate,
} from './TaskFailureGate.ts';
