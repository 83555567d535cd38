import type { ReviewedRange, ReviewSubject } from '../CodeReview.ts';
import type { CommitView, RunWorkspace } from '../ports.ts';
import type { GraphState } from '../types.ts';
import { reviewDecisions, reviewsOf } from './reviewDecisions.ts';
import { reviewSubject } from './reviewSubject.ts';

/** Of each the most that is kept in the state. */
const FILES_SHOWN = 200;
const COMMITS_SHOWN = 100;

/** Code that a human has to be shown. */
export interface DueReview {
  readonly subject: ReviewSubject;
  readonly range: ReviewedRange;
  readonly since: string | null;
  /** Commits of these tasks that a sync made anew: the id on the branch by the one in the state. */
  readonly moved?: Readonly<Record<string, string>>;
}

/** What has to be shown now, by the state and the run's branch; `null` for nothing. */
export async function dueReview(state: GraphState, workspace: RunWorkspace): Promise<DueReview | null> {
  const commits = await workspace.log();
  const subject = reviewSubject(state, commits);
  if (subject === null) return null;
  const start = reviewStart(state, subject, commits);
  const changes = await workspace.changes(start < 0 ? null : (commits[start]?.sha ?? null));
  if (changes === null) return null;
  const { files } = changes;
  const sum = (part: 'added' | 'removed'): number =>
    files.reduce((total, file) => total + (file[part] ?? 0), 0);
  const own = state.tasks.filter(({ taskId }) => subject.taskIds.includes(taskId));
  const moved = (await workspace.successors?.(own.flatMap(({ gitHash }) => gitHash ?? []))) ?? {};
  const shown = reviewsOf(state, subject.taskIds).at(-1)?.review.to;
  return {
    subject,
    since: commits.some(({ sha }) => sha === shown) ? (shown ?? null) : null,
    moved,
    range: {
      ...changes,
      commits: commits.slice(start + 1).slice(-COMMITS_SHOWN),
      files: files.slice(0, FILES_SHOWN),
      total: { files: files.length, added: sum('added'), removed: sum('removed') },
    },
  };
}

/**
 * Where the commit before the range stands in `commits`; -1 for the beginning of the run. A repeated review begins
 * where the first one did. A first one leaves out nothing that no approved review has shown. A commit that is not
 * there any more (the run was carried over to others) means the beginning: rather shown twice than never.
 */
function reviewStart(state: GraphState, { taskIds }: ReviewSubject, commits: readonly CommitView[]): number {
  const position = (sha: string | undefined): number => commits.findIndex((commit) => commit.sha === sha);
  const repeated = reviewsOf(state, taskIds).at(-1);
  if (repeated !== undefined) return position(repeated.review.from);
  const own = state.tasks.filter(({ taskId }) => taskIds.includes(taskId));
  const approved = reviewDecisions(state).findLast(({ signal }) => signal.approved);
  return Math.min(position(approved?.review.to), ...own.map(({ gitHash }) => position(gitHash) - 1));
}
