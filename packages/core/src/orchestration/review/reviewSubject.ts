import type { ReviewSubject } from '../CodeReview.ts';
import type { CommitView } from '../ports.ts';
import { isEpicOpen, isTaskTerminal } from '../taskStates.ts';
import type { GraphState, TaskRecord } from '../types.ts';
import { isCodeApproved, reviewDecisions } from './reviewDecisions.ts';

/**
 * What a human has to be shown before the run goes on; `null` for nothing. Read from the state and the run's commits
 * each time, so that no order of events can pass over a task.
 *
 * @param commits - The run's own, oldest first.
 */
export function reviewSubject(state: GraphState, commits: readonly CommitView[]): ReviewSubject | null {
  const due = dueReviewTasks(state, commits);
  if (due === null) return movedSubject(state, commits);
  return due;
}

function dueReviewTasks(state: GraphState, commits: readonly CommitView[]): ReviewSubject | null {
  const { tasks, epics, activeTaskId, projectConfig } = state;
  const { review: scope } = projectConfig;
  if (scope === undefined) return null;
  const due = tasks.filter(({ taskId, status }) => status === 'completed' && !isCodeApproved(state, taskId));
  if (scope === 'task') return subjectOf(due, { scope, epicId: null }, commits);
  const isFinished = (epicId: string): boolean =>
    tasks.every((task) => task.epicId !== epicId || isTaskTerminal(task, activeTaskId));
  const epic = epics.find(
    (candidate) =>
      isEpicOpen(candidate) &&
      isFinished(candidate.epicId) &&
      due.some(({ epicId }) => epicId === candidate.epicId),
  );
  if (epic === undefined) return null;
  const own = tasks.filter(({ epicId, status }) => epicId === epic.epicId && status === 'completed');
  return subjectOf(own, { scope, epicId: epic.epicId }, commits);
}

function subjectOf(
  tasks: readonly TaskRecord[],
  about: Pick<ReviewSubject, 'scope' | 'epicId'>,
  commits: readonly CommitView[],
): ReviewSubject | null {
  if (tasks.length === 0) return null;
  const position = ({ gitHash }: TaskRecord): number => commits.findIndex(({ sha }) => sha === gitHash);
  const ordered = tasks.toSorted((a, b) => position(a) - position(b));
  return { ...about, taskIds: ordered.map(({ taskId }) => taskId) };
}

/**
 * The last approved tasks, when the branch was moved by something else than a task before the approval was taken up
 * (a hand commit, a sync): an approval holds for exactly the code that was shown.
 */
function movedSubject(state: GraphState, commits: readonly CommitView[]): ReviewSubject | null {
  const last = reviewDecisions(state).at(-1);
  if (last === undefined || !last.signal.approved) return null;
  const { scope, epicId, taskIds, to } = last.review;
  if (taskIds.length === 0) return null; // all of it was undone by a rewind
  const since = commits.slice(commits.findIndex(({ sha }) => sha === to) + 1);
  const isOfTask = ({ sha }: CommitView): boolean => state.tasks.some(({ gitHash }) => gitHash === sha);
  return since.length === 0 || since.some(isOfTask) ? null : { scope, epicId, taskIds };
}
