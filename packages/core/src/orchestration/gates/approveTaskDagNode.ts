import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { hashOf } from '../../values/canonicalJson.ts';
import { editedPlan } from '../nodes/editedPlan.ts';
import { lastIssuedNumber } from '../nodes/plan.ts';
import { isEpicOpen } from '../taskStates.ts';
import type { GraphState } from '../types.ts';
import { dagArtifact } from './artifacts.ts';
import { askForApproval, type EditedGate } from './askForApproval.ts';
import { baselineLine } from './baselineLine.ts';
import { recordEdit, withDecision } from './withDecision.ts';

/**
 * Gate after `distill`: a person approves the task DAG (continues with `implement`), rejects it (`distill`) or edits
 * it.
 */
export function approveTaskDagNode(state: GraphState, config?: LangGraphRunnableConfig): Partial<GraphState> {
  const approval = askForApproval(
    state,
    {
      gate: 'dag_approval',
      node: 'approveTaskDag',
      message: `Read the tasks. Approve them to have them implemented, one commit each.${baselineLine(state)}`,
      artifact: dagArtifact(state),
    },
    config,
  );
  if ('edit' in approval) return editDag(state, approval);
  const status = { approved: 'implementing', rejected: 'planning' } as const;
  const numbered = approval.signal.approved ? {} : { lastTaskNumber: lastIssuedNumber(state) };
  return withDecision(state, 'dag_approval', { ...approval, ...numbered }, status);
}

function editDag(state: GraphState, edited: EditedGate<'dag_approval'>): Partial<GraphState> {
  const plan = editedPlan(state, edited.edit.plan);
  const activeEpicId = plan.epics.find(isEpicOpen)?.epicId ?? null;
  const record = { artifactHash: hashOf(dagArtifact(plan)), lastTaskNumber: lastIssuedNumber(state) };
  return recordEdit(state, 'dag_approval', edited, { update: { ...plan, activeEpicId }, record });
}
