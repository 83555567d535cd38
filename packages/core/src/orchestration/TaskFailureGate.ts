export * from '../engine/guards/TaskFailureGate.ts';
