import { rejectionText } from '../../engine/gates/answerForms.ts';
import type { DesignRequest, DraftDocument, PlanResult } from '../ports.ts';
import type { StageView } from '../task/StageView.ts';
import { withTalk } from '../task/taskBrief.ts';
import { taskLabel } from '../taskStates.ts';
import type { GraphState, HitlGate } from '../types.ts';
import { briefOf, draftsOf } from './documents.ts';
import { planDraftOf } from './plan.ts';

// A proposal that its gate was not asked about yet is not asked of an agent again: it was given when the run was
// started, or its stage was done before a guard stopped the run.

/** True when the run came, or was started, at a gate with an undecided proposal. */
export function isProposedAt(
  { pendingApprovalGate }: Pick<GraphState, 'pendingApprovalGate'>,
  gate: HitlGate,
): boolean {
  return pendingApprovalGate === gate;
}

/** True while there is a plan that was never decided on; it may have been given together with documents. */
export function isPlanProposed({
  tasks,
  hitlDecisions,
}: Pick<GraphState, 'tasks' | 'hitlDecisions'>): boolean {
  return tasks.length > 0 && !hitlDecisions.some(({ gate }) => gate === 'dag_approval');
}

/** True once there is nothing to find out: reports were written or declined, or what they are for was given. */
export function isResearched({
  status,
  pendingApprovalGate,
}: Pick<GraphState, 'status' | 'pendingApprovalGate'>): boolean {
  return status === 'researching' || pendingApprovalGate !== null;
}

/** The request for a proposal that a person will read at `gate`. */
export function proposalRequest(state: GraphState, gate: HitlGate): DesignRequest {
  const isRejected = gate === 'design_approval' && wasSentBack(state, gate);
  return {
    brief: briefOf(state),
    attempt: state.rejections[gate] + 1,
    documents: isRejected ? markedDrafts(state) : draftsOf(state),
    feedback: feedbackOn(state, gate),
  };
}

/** Brief and reports were shown at the gate too; what is to be done again is the rest. */
function markedDrafts({ documents }: GraphState): readonly DraftDocument[] {
  return documents.map(({ type, title, content, stage }) => ({
    type,
    title,
    content,
    ...(type !== 'BRIEF' && stage !== 'research' && { rejected: true as const }),
  }));
}

/** Whether the last word of a human at a gate was no. */
function wasSentBack({ hitlDecisions }: Pick<GraphState, 'hitlDecisions'>, gate: HitlGate): boolean {
  const last = hitlDecisions.findLast((decision) => decision.gate === gate);
  return last !== undefined && !last.signal.approved && last.edit === undefined;
}

/** A person's reason for rejecting a proposal, and the talk at its gate, for the next attempt. */
export function feedbackOn(
  { hitlDecisions }: GraphState,
  gate: 'design_approval' | 'dag_approval',
): string | null {
  const last = hitlDecisions.findLast((decision) => decision.gate === gate);
  return last?.signal.approved === false ? withTalk(rejectionText(last.signal), gate) : null;
}

// For a stage that does its work again.

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

/** Changes since a proposal was made: edits of people before they rejected it, and changed files. */
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
