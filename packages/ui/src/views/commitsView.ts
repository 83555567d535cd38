import type { ClosedGate, Gate, PipelineRunInfo } from '@devs/core';

/** The commit of a task, and its review. */
export interface CommitLine {
  readonly sha: string;
  /** Of its task. */
  readonly label: string;
  readonly name: string;
  /** Of its newest review; `committed` without one. */
  readonly state: 'committed' | 'waits' | 'approved' | 'sent back';
  /** Such as `human:ada`; `null` without a decision. */
  readonly by: string | null;
  /** The review that shows it. */
  readonly sessionId: string | null;
  /** Lines; `null` without a review of this commit alone. */
  readonly size: { readonly added: number; readonly removed: number } | null;
}

/** The members of a review that name its tasks. */
interface Reviewed {
  readonly tasks?: readonly { readonly taskId: string; readonly commit: string | null }[];
  readonly range?: {
    readonly commits: readonly unknown[];
    readonly total: { readonly added: number; readonly removed: number };
  };
}

/** Commits of the tasks, the latest first. Pure. @param past - Oldest first. */
export function commitsView(
  tasks: readonly PipelineRunInfo['tasks'][number][],
  gates: readonly Gate[],
  past: readonly ClosedGate[],
): readonly CommitLine[] {
  const reviews = [...past, ...gates].filter(({ kind }) => kind === 'review').toReversed();
  const lines = tasks.flatMap(({ taskId, label, name, gitHash }): readonly CommitLine[] => {
    if (gitHash === null) return [];
    const review = reviews.find((each) => shows(each, taskId, gitHash));
    return [{ sha: gitHash, label, name, ...reviewed(review) }];
  });
  return lines.toReversed();
}

const shows = ({ artifact }: Gate, task: string, sha: string): boolean =>
  ((artifact ?? {}) as Reviewed).tasks?.some(({ taskId, commit }) => taskId === task && commit === sha) ??
  false;

function reviewed(review: Gate | ClosedGate | undefined): Omit<CommitLine, 'sha' | 'label' | 'name'> {
  if (review === undefined) return { state: 'committed', by: null, sessionId: null, size: null };
  const { sessionId, artifact } = review;
  const { range } = artifact as Reviewed;
  const size =
    range?.commits.length === 1 ? { added: range.total.added, removed: range.total.removed } : null;
  if (!('status' in review)) return { state: 'waits', by: null, sessionId, size };
  const { approved } = (review.decision ?? {}) as { readonly approved?: unknown };
  const state = approved === true ? 'approved' : approved === false ? 'sent back' : 'committed';
  return { state, by: state === 'committed' ? null : review.principal, sessionId, size };
}
