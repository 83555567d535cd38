// How a run of the pipeline stands, from the rows of its state file.

import type { EngineStore } from '../engine/EngineStore.ts';
import { openGates } from '../engine/gates/Gate.ts';
import { infoOf } from '../engine/runs/listRuns.ts';
import { reviewDecisions } from '../orchestration/review/reviewDecisions.ts';
import { isPipelineRun, withCurrentCommits } from '../orchestration/storedState.ts';
import { taskLabel } from '../orchestration/taskStates.ts';
import type { GraphState } from '../orchestration/types.ts';
import { recordedAgents } from './agentsIdentity.ts';
import type { PipelineApp } from './PipelineApp.ts';
import {
  type BudgetUse,
  type PipelineRunInfo,
  type ReviewStatus,
  type RewindView,
  runningView,
  taskView,
} from './views.ts';

/** The pipeline's state at its latest checkpoint; `null` before the first, and for a run of another graph. */
export async function currentState(id: string, app: PipelineApp): Promise<GraphState | null> {
  if (!isPipelineRun(app.store.threads.require(id))) return null;
  return withCurrentCommits(await app.values(id), id, app.store);
}

/** The status of a run, read without executing it. */
export async function runStatus(id: string, app: PipelineApp): Promise<PipelineRunInfo> {
  const { store } = app;
  const state = await currentState(id, app);
  const { threads, steps } = store;
  const thread = threads.require(id);
  const driver = threads.driverOf(id);
  return {
    ...infoOf(thread, driver !== null),
    title: String(thread.policies['title'] ?? id),
    driver,
    running: runningView(id, store),
    degraded: thread.degraded,
    agents: recordedAgents(id, store),
    workspace: threads.folderOf(thread),
    tasks: (state?.tasks ?? []).map(taskView),
    gates: openGates(id, store.sessions),
    cost: steps.costOf(id),
    review: state === null ? null : reviewStatus(state),
    budget: budgetUses(id, store),
    rewinds: rewindViews(id, store),
  };
}

/** Use of each limit of the run's budget, without limits per task. */
const budgetUses = (id: string, { budgets }: EngineStore): readonly BudgetUse[] =>
  budgets.usesOf(id).map(({ measure, limit, spent, reserved }) => ({ measure, limit, spent, reserved }));

/** How the code of a run is reviewed; `null` also for a run of an own graph, which has no project. */
function reviewStatus(state: Pick<GraphState, 'hitlDecisions'> & Partial<GraphState>): ReviewStatus | null {
  const scope = state.projectConfig?.review;
  if (scope === undefined) return null;
  const decisions = reviewDecisions(state);
  const approved = decisions.filter(({ signal }) => signal.approved).length;
  return { scope, approved, rejected: decisions.length - approved };
}

/** Rewinds as people see them: one that was undone has this as its state, and is one line. */
const rewindViews = (id: string, { rewinds }: EngineStore): readonly RewindView[] =>
  rewinds
    .list(id)
    .filter(({ before }) => before.takesBack === null)
    .map(({ id: rewindId, targetTaskId, undone, before, state, createdAt }) => ({
      id: rewindId,
      target: taskLabel(targetTaskId),
      undone: undone.map(({ taskId }) => taskLabel(taskId)),
      principal: before.principal,
      reason: before.reason,
      at: new Date(createdAt).toISOString(),
      state: state === 'intent' ? 'unfinished' : state,
    }));
