import { isDevsError } from '../../errors/DevsError.ts';
import type { PlanResult, RunWorkspace } from '../ports.ts';
import { reviewDecisions } from '../review/reviewDecisions.ts';
import type { StageView } from '../task/StageView.ts';
import { taskLabel } from '../taskStates.ts';
import type { GraphState, HitlGate } from '../types.ts';
import { wasSentBack } from './documents.ts';
import { planDraftOf } from './editedPlan.ts';

// What a stage is told that does its work again.

/** The plan that was sent back, its tasks under their labels; `null` where none was. */
export function rejectedPlan(state: GraphState): PlanResult | null {
  return wasSentBack(state, 'dag_approval') ? planDraftOf(state) : null;
}

/**
 * Ids of the tasks that a plan done again keeps: those named by their label, then those of the same name. A task keeps
 * its id once.
 */
export function keptIds(state: GraphState, { epics }: PlanResult): ReadonlyMap<string, string> {
  if (!wasSentBack(state, 'dag_approval')) return new Map();
  const free = new Map(state.tasks.map((task) => [taskLabel(task.taskId), task]));
  const drafts = epics.flatMap(({ tasks }) => tasks);
  const kept = new Map<string, string>();
  const keep = (key: string, label: string): void => {
    const task = free.get(label);
    if (task === undefined || kept.has(key)) return;
    kept.set(key, task.taskId);
    free.delete(label);
  };
  for (const { key } of drafts) keep(key, key);
  for (const { key, name } of drafts) {
    const same = [...free].find(([, task]) => task.name === name)?.[0];
    if (same !== undefined) keep(key, same);
  }
  return kept;
}

/** What became of a proposal since it was made: edits of humans before they sent it back, and other files. */
export async function changesSince(
  state: GraphState,
  gate: HitlGate,
  view: StageView,
): Promise<readonly string[]> {
  if (!wasSentBack(state, gate)) return [];
  const decisions = state.hitlDecisions.filter((decision) => decision.gate === gate).slice(0, -1);
  const previous = decisions.findLastIndex(({ edit }) => edit === undefined);
  const editors = decisions.slice(previous + 1).map(({ signal }) => signal.approvedBy ?? 'a human');
  const edited = [...new Set(editors)].map(
    (editor) => `${editor} edited the proposal before it was sent back; it stands here as edited.`,
  );
  const files = await view.changesSince(state.projectConfig.proposedOn?.[gate]);
  return files === null ? edited : [...edited, files];
}

/** Remembers on which tree a proposal was made. */
export function proposedOn(
  { projectConfig }: Pick<GraphState, 'projectConfig'>,
  gate: HitlGate,
  { tree }: Pick<StageView, 'tree'>,
): GraphState['projectConfig'] {
  return { ...projectConfig, proposedOn: { ...projectConfig.proposedOn, [gate]: tree } };
}

/** Bytes of it that agents are shown. */
const MAX_BYTES = 32 * 1024;

/**
 * The code of a task that a human sent back last, as it was shown; `null` where none was, where the workspace does not
 * compare, and where the shown commits are no more.
 */
export async function rejectedDiff(
  state: Pick<GraphState, 'hitlDecisions'>,
  taskId: string,
  workspace: RunWorkspace,
): Promise<string | null> {
  const decision = reviewDecisions(state).findLast(({ review }) => review.reopened.includes(taskId));
  if (decision === undefined || workspace.compare === undefined) return null;
  const { from, to } = decision.review;
  try {
    const { diff } = await workspace.compare(from, to, MAX_BYTES);
    return diff === '' ? null : diff;
  } catch (error) {
    if (isDevsError(error, 'WORKSPACE_FAILED')) return null;
    throw error;
  }
}
