import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { isEdit } from '../../engine/gates/answers.ts';
import type { Gate } from '../../engine/gates/Gate.ts';
import { asHuman } from '../../engine/gates/principals.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession, Principal } from '../../state/gates/hitlSession.ts';
import { hashOf } from '../../values/canonicalJson.ts';
import { draftsOf } from '../nodes/documents.ts';
import { assertPlanEdit, planDraftOf } from '../nodes/plan.ts';
import type { DraftDocument, PlanResult } from '../ports.ts';
import type { GraphState, HitlGate } from '../types.ts';
import { type DagArtifact, type DesignArtifact, dagArtifact } from './artifacts.ts';

// A human's own version of what a gate shows. It is an answer like any other: recorded once, against the hash that was
// shown. The gate then asks again, about the new version.

const text = lateSchema(() => z.string());
const nameText = lateSchema(() => text().refine((value) => value.trim() !== '', { error: 'Is empty' }));

const editedDocuments = lateSchema(() =>
  z.array(z.strictObject({ type: nameText(), title: nameText(), content: text() })).min(1),
);
const task = lateSchema(() =>
  z.strictObject({
    key: nameText(),
    name: nameText(),
    description: text(),
    dependsOn: z.array(nameText()),
    requirements: z.array(nameText()),
    acceptanceCriteria: z.array(text()),
    kind: z.exactOptional(z.enum(['test-first', 'behaviour-kept', 'checked-by'])),
    checkedBy: z.exactOptional(nameText()),
  }),
);
const planSchema = lateSchema(() =>
  z.strictObject({
    requirements: z.array(z.strictObject({ externalId: nameText(), description: text() })),
    epics: z.array(z.strictObject({ name: nameText(), description: text(), tasks: z.array(task()) })),
  }),
);

// Who edited and when is added when the recorded answer is handed to the node.
const author = lateSchema(() => z.strictObject({ editedBy: z.string(), editedAt: z.string() }));
const editAction = lateSchema(() => z.strictObject({ action: z.literal('edit') }));

export const documentsEdit = lateSchema(() => editAction().extend({ documents: editedDocuments() }));
export const planEdit = lateSchema(() => editAction().extend({ plan: planSchema() }));
export const recordedDocumentsEdit = lateSchema(() => documentsEdit().extend(author().shape));
export const recordedPlanEdit = lateSchema(() => planEdit().extend(author().shape));

/** Documents that replace those of the same type, or are added. Other documents stay. */
export interface DocumentsEdit {
  readonly documents: readonly DraftDocument[];
}

/** The whole plan after the edit. A task named `T3` keeps its id; another key is a new task. Omitted tasks are dropped. */
export interface PlanEdit {
  readonly plan: PlanResult;
}

export type GateEdit = DocumentsEdit | PlanEdit;

/** An edit as its node gets it. */
export type RecordedEdit<Gate extends HitlGate = HitlGate> = {
  readonly design_approval: DocumentsEdit;
  readonly dag_approval: PlanEdit;
}[Gate] & { readonly editedBy: string; readonly editedAt: string };

/**
 * Refuses an edit before it is recorded: nothing may reach the node that it could not use.
 *
 * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED` for anyone but a human; `DAG_INVALID` for a plan that
 *   cannot become tasks; `STATE_CORRUPT` without a recorded question.
 */
export function assertEditFits(answer: object, session: HitlSession, by: Principal): void {
  if (!isEdit(answer)) return;
  asHuman(by, session.threadId ?? session.id, 'edit a proposal of');
  const { plan } = answer as Partial<PlanEdit>;
  if (plan !== undefined) assertPlanEdit(planArtifactOf(session), plan);
}

function planArtifactOf({ id, question }: HitlSession): DagArtifact {
  const { artifact } = (question ?? {}) as { readonly artifact?: DagArtifact };
  if (Array.isArray(artifact?.tasks)) return artifact;
  throw new DevsError(`Gate "${id}" has no plan.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Restore the state file from a backup.',
    context: { sessionId: id },
  });
}

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
