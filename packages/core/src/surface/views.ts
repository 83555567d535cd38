import type { Gate } from '../engine/gates/Gate.ts';
import type { RunInfo, RunOutcome } from '../engine/RunResult.ts';
import type { ReviewScope } from '../orchestration/CodeReview.ts';
import type { CommitView, Delivery } from '../orchestration/ports.ts';
import type { TaskStatus } from '../orchestration/types.ts';
import type { RunCost } from '../state/steps/StepStore.ts';
import type { AgentsIdentity } from './agentsIdentity.ts';
import type { RunningView } from './runningView.ts';

/** One task, as people count it. */
export interface TaskView {
  readonly taskId: string;
  /** `T1`, `T2`, … */
  readonly label: string;
  readonly name: string;
  readonly status: TaskStatus;
  readonly gitHash: string | null;
}

/** One limit of a run's budget, with what humans have added to it. */
export interface BudgetUse {
  readonly measure: 'usd' | 'tokens' | 'calls' | 'ms';
  readonly limit: number;
  readonly spent: number;
  /** Held back for calls in flight. */
  readonly reserved: number;
}

/** How the code of a run is reviewed, and how often it was. */
export interface ReviewStatus {
  readonly scope: ReviewScope;
  readonly approved: number;
  readonly rejected: number;
}

/** One time a run was set back. */
export interface RewindView {
  readonly id: string;
  /** The task it was set back to, such as `T2`. */
  readonly target: string;
  /** Tasks that were undone, such as `T3`. */
  readonly undone: readonly string[];
  readonly principal: string;
  readonly reason: string | null;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** `unfinished`: the run's files follow with the next drive. `undone`: it was taken back. */
  readonly state: 'unfinished' | 'done' | 'undone';
}

/** A run of the pipeline, read without executing it. */
export interface PipelineRunInfo extends RunInfo {
  readonly title: string;
  /** The process that runs it; `null` if no live process does. */
  readonly driver: string | null;
  /** Its current work; `null` if no process runs it, and between two nodes. */
  readonly running: RunningView | null;
  /** Whether journal rows were lost. */
  readonly degraded: boolean;
  /** Source of the agents' answers; `null` without agents. */
  readonly agents: AgentsIdentity | null;
  readonly workspace: string | null;
  readonly tasks: readonly TaskView[];
  readonly gates: readonly Gate[];
  readonly cost: RunCost;
  /** `null` without code reviews, and before the first checkpoint. */
  readonly review: ReviewStatus | null;
  /** Empty without a budget. */
  readonly budget: readonly BudgetUse[];
  /** Oldest first. */
  readonly rewinds: readonly RewindView[];
}

/** Result of executing a run of the pipeline. */
export type PipelineResult = RunOutcome & {
  readonly commits: readonly CommitView[];
  /** The branch in the user's repository; `null` without a repository or commits. */
  readonly delivery: Delivery | null;
  readonly cost: RunCost;
};

/** One event of a run's log. */
export interface LogEntry {
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly name: string;
  readonly taskId: string | null;
  readonly payload: unknown;
}
