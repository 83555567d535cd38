import type { PlanResult } from '../ports.ts';
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
