import type { CommitView, CriterionEvidence, FileChange, TestLoss } from './ports.ts';

/** When a person reviews the committed code: after every task, or after every epic. */
export type ReviewScope = 'task' | 'epic';

/** The tasks whose code is shown together. */
export interface ReviewSubject {
  readonly scope: ReviewScope;
  /** `null` in a review of tasks. */
  readonly epicId: string | null;
  /** In the order of their commits. */
  readonly taskIds: readonly string[];
}

/** What the human is shown: names and numbers of the code, never its text (that is git's), and what speaks for it. */
export interface CodeReview extends ReviewSubject {
  /** Of the epic; `null` in a review of tasks. */
  readonly epicName: string | null;
  readonly tasks: readonly ReviewedTask[];
  readonly range: ReviewedRange;
  /** The newest commit of the last review of these tasks; `null` for the first one. */
  readonly since: string | null;
  /** The project's own checks on exactly the newest commit; `null` where they were not run on it. */
  readonly check: ReviewedCheck | null;
  /** Of these tasks, oldest first. */
  readonly rejections: readonly ReviewRejection[];
}

export interface ReviewedTask {
  readonly taskId: string;
  readonly name: string;
  /** Its newest in the range. */
  readonly commit: string | null;
  readonly criteria: readonly ReviewedCriterion[];
  /** The losses of the tests; absent if there are none. */
  readonly losses?: readonly TestLoss[];
}

export interface ReviewedCriterion extends Pick<CriterionEvidence, 'criterion'> {
  /** `null` where the reviewing agent named nothing. */
  readonly shownBy: string | null;
}

/** `git diff from to` is the code that is decided on. */
export interface ReviewedRange {
  readonly from: string;
  readonly to: string;
  /** Git tree of `to`. */
  readonly tree: string;
  /** The newest, oldest first. */
  readonly commits: readonly CommitView[];
  /** The first by path. */
  readonly files: readonly FileChange[];
  /** Of all files. */
  readonly total: { readonly files: number; readonly added: number; readonly removed: number };
}

export interface ReviewedCheck {
  readonly command: string;
  readonly passed: boolean;
  readonly exitCode: number | null;
  /** Its end. */
  readonly output: string;
}

export interface ReviewRejection {
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly feedback: string;
}

/** The subject of a decision on code; kept with the decision. */
export interface ReviewRecord extends ReviewSubject {
  readonly from: string;
  readonly to: string;
  /** Ids of the tasks that are done again; empty in an approval. */
  readonly reopened: readonly string[];
}
