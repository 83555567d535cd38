import { activeTask, firstReadyTask, isTaskTerminal } from '../taskStates.ts';
import type { GraphState, TaskRecord } from '../types.ts';

export interface PickedTask {
  /** The task to work on; `null` when none is ready. */
  readonly task: TaskRecord | null;
  /** The state its episode starts with: another task drops the turns, loops and errors of the one before. */
  readonly state: GraphState;
}

/** Keeps the active task until it is terminal, then takes the first ready one in the order of the DAG. */
export function pickTask(state: GraphState): PickedTask {
  const active = activeTask(state);
  if (active !== null && !isTaskTerminal(active, state.activeTaskId)) return { task: active, state };
  const task = firstReadyTask(state);
  if (task === null) return { task, state };
  return { task, state: { ...state, ...beginTask(task) } };
}

/** The update that makes a task the active one, with nothing counted yet but the attempts of a reopened one. */
export function beginTask({ taskId, epicId, attempts = 0 }: TaskRecord): Partial<GraphState> {
  const episode = {
    implementationTurns: 0,
    taskAttempts: attempts,
    taskPivots: 0,
    entropy: [],
    errorHistory: [],
  };
  return { ...episode, activeTaskId: taskId, activeEpicId: epicId };
}

/** The tasks with one of them changed. */
export function withTask(
  tasks: readonly TaskRecord[],
  taskId: string,
  change: Partial<Pick<TaskRecord, 'status' | 'gitHash' | 'evidence' | 'attempts'>>,
): readonly TaskRecord[] {
  return tasks.map((task) => (task.taskId === taskId ? { ...task, ...change } : task));
}
