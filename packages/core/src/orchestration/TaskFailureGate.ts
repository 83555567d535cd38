/** `TaskFailureGate`: pauses a task for a human once its entropy score reaches the threshold, once per task. */
export * from '../engine/gates/TaskFailureGate.ts';
