import type { Gate } from '../engine/gates/Gate.ts';
import { DevsError } from '../errors/DevsError.ts';
import { type DesignArtifact, dagArtifact } from '../orchestration/gates/artifacts.ts';
import type { GateEdit } from '../orchestration/gates/gateEdit.ts';
import { draftsOf } from '../orchestration/nodes/documents.ts';
import { planDraftOf } from '../orchestration/nodes/editedPlan.ts';
import type { GraphState } from '../orchestration/types.ts';
import { hashOf } from '../values/canonicalJson.ts';

/**
 * What a gate shows, in the form in which an edit takes it back.
 *
 * @param state - Of the run, at its latest checkpoint: what is shown of a plan has no order, the state has the one in
 *   which the tasks are worked on.
 * @throws DevsError `INVALID_ANSWER` if gates of this kind are not edited; `GATE_STALE` if the run has moved on.
 */
export function gateDraft(
  { kind, artifact, artifactHash, sessionId }: Gate,
  state: GraphState | null,
): GateEdit {
  if (kind === 'design_approval') return { documents: draftsOf(artifact as DesignArtifact) };
  if (kind !== 'dag_approval') throw notEditable(sessionId);
  if (state === null || hashOf(dagArtifact(state)) !== artifactHash) throw gateMovedOn(sessionId);
  return { plan: planDraftOf(state) };
}

const notEditable = (sessionId: string): DevsError =>
  new DevsError(`Gate "${sessionId}" has nothing to edit.`, {
    code: 'INVALID_ANSWER',
    remedy: 'Only the design and the plan can be edited. Answer this gate instead.',
    context: { sessionId },
  });

const gateMovedOn = (sessionId: string): DevsError =>
  new DevsError(`The plan of gate "${sessionId}" is outdated.`, {
    code: 'GATE_STALE',
    remedy: 'List the open gates, then read the current one.',
    context: { sessionId },
  });
