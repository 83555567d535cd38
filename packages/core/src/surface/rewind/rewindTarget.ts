import { DevsError } from '../../errors/DevsError.ts';
import { isDagApproved } from '../../orchestration/gates/artifacts.ts';
import { taskLabel } from '../../orchestration/taskStates.ts';
import type { GraphState, TaskRecord } from '../../orchestration/types.ts';

/** Why a run was not set back. */
export type RewindRefusal = 'unknown_task' | 'not_begun' | 'plan_not_approved' | 'ended' | 'moved_on';

/**
 * The task to go back to: a finished one, or one that was begun and is to be begun anew.
 *
 * @param name - `T3`, or the task's id.
 * @throws DevsError `REWIND_REFUSED`
 */
export function rewindTarget(threadId: string, name: string, state: GraphState | null): TaskRecord {
  const target = state?.tasks.find(({ taskId }) => taskId === name || taskLabel(taskId) === name);
  if (state === null || target === undefined) {
    throw rewindRefused(threadId, 'unknown_task', {
      what: `it has no task ${JSON.stringify(name)}`,
      remedy: 'List its tasks to find the right one.',
    });
  }
  if (!isDagApproved(state)) {
    throw rewindRefused(threadId, 'plan_not_approved', {
      what: 'its current plan is not approved',
      remedy: 'Decide the plan gate first.',
    });
  }
  if (target.status === 'blocked' || isUntouched(target)) {
    throw rewindRefused(threadId, 'not_begun', {
      what: `${name} is ${target.status}`,
      remedy: 'Rewind to a task that is finished or was started.',
    });
  }
  return target;
}

/** One that a human sent back is pending, too, and has something committed. */
function isUntouched({ status, gitHash }: TaskRecord): boolean {
  return status === 'pending' && gitHash === undefined;
}

export function rewindRefused(
  threadId: string,
  reason: RewindRefusal,
  { what, remedy }: { readonly what: string; readonly remedy: string },
): DevsError {
  return new DevsError(`Run "${threadId}" cannot be rewound: ${what}.`, {
    code: 'REWIND_REFUSED',
    remedy,
    context: { threadId, reason },
  });
}
