import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import {
  APPROVAL_SHAPE,
  givenApproval,
  optionalText,
  recordedApproval,
} from '../../engine/gates/answerForms.ts';
import {
  type AnswerTo,
  ENGINE_GATES,
  type GateRule,
  type GateRules,
  isEdit,
} from '../../engine/gates/engineGates.ts';
import type { Gate } from '../../engine/gates/Gate.ts';
import { asHuman } from '../../engine/gates/principals.ts';
import type { AppliedAnswer } from '../../engine/graph/NodeEngine.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { scrub } from '../../masking/scrub.ts';
import type { HitlSession, Principal } from '../../state/gates/hitlSession.ts';
import { hashOf } from '../../values/canonicalJson.ts';
import { type Baseline, comparableFailures, joinNames } from '../checks/CheckSummary.ts';
import { draftsOf, withDocuments } from '../nodes/documents.ts';
import { assertPlanEdit, planDraftOf } from '../nodes/plan.ts';
import type { DraftDocument, PlanResult } from '../ports.ts';
import { tallyComments } from '../review/lastComments.ts';
import { reviewGate } from '../review/reviewGate.ts';
import type { GraphState, HitlGate } from '../types.ts';
import {
  type DagArtifact,
  type DesignArtifact,
  dagArtifact,
  documentSections,
  planSections,
} from './artifacts.ts';

const baselineAnswer = lateSchema(() => {
  const reason = optionalText();
  return z.discriminatedUnion('action', [
    z.strictObject({ action: z.enum(['again', 'first-task']), reason }),
    /** `failures`: names of those shown; all of them when left out. */
    z.strictObject({
      action: z.literal('accept'),
      failures: z.exactOptional(z.array(z.string().min(1)).min(1)),
      reason,
    }),
    z.strictObject({ action: z.literal('abort'), reason }),
  ]);
});

/** Of checks that are red before anything was done. Nothing declared beforehand answers it. */
const baselineGate = {
  given: baselineAnswer,
  recorded: baselineAnswer,
  shape:
    "{ action: 'again' }, { action: 'first-task' }, { action: 'accept', failures? } or { action: 'abort', reason? }",
  policyName: null,
  assertFits: assertAccepts,
} satisfies GateRule;

export type BaselineAnswer = AnswerTo<typeof baselineGate>;

/** The content of the gate. */
export interface ShownBaseline
  extends Pick<Baseline, 'command' | 'parts' | 'failing' | 'appeared' | 'flaky' | 'missing'> {
  /** Test cases that ran; `null` where the runner does not tell. */
  readonly cases: number | null;
  /** End of the checks' output. */
  readonly output: string;
}

export function shownBaseline({ projectConfig, pendingSuspension }: GraphState): ShownBaseline | null {
  const { baseline } = projectConfig;
  if (baseline === undefined) return null;
  const { command, parts, failing, appeared, flaky, missing, cases } = baseline;
  return {
    command,
    failing,
    flaky,
    cases,
    output: pendingSuspension?.checkOutput ?? '',
    ...(parts && { parts }),
    ...(appeared && { appeared }),
    ...(missing !== undefined && { missing }),
  };
}

/** A program that is missing judges nothing, so there is nothing to accept; nor is what did not fail. */
function assertAccepts(given: object, { id, question }: HitlSession): void {
  const { action, failures = [] } = given as {
    readonly action?: string;
    readonly failures?: readonly string[];
  };
  if (action !== 'accept' && action !== 'first-task') return;
  const { artifact } = (question ?? {}) as { readonly artifact?: Partial<ShownBaseline> };
  const { missing, failing = [] } = artifact ?? {};
  if (missing !== undefined) {
    throw new DevsError(`The checks could not run: ${missing} is not installed.`, {
      code: 'INVALID_ANSWER',
      remedy: `Install it, or add a setup command that installs it, then answer again.`,
      context: { sessionId: id },
    });
  }
  const unknown = failures.find((name) => !failing.includes(name));
  if (unknown === undefined) return;
  throw new DevsError(`Gate "${id}" has no failure "${unknown}".`, {
    code: 'INVALID_ANSWER',
    remedy: `Use failures of this gate: ${joinNames(failing)}.`,
    context: { sessionId: id },
  });
}

/**
 * What a human's word on red checks changes. `again`: they run once more. `first-task`: agents are told to mend them
 * first. `accept`: what was named may go on failing. `research` goes on with each of them.
 */
export function applyBaseline(state: GraphState, answer: BaselineAnswer): AppliedAnswer<GraphState> {
  const { baseline, failedBefore: _, ...config } = state.projectConfig;
  const asked = { pendingSuspension: null };
  if (answer.action === 'again' || baseline === undefined) {
    const failedBefore = baseline && comparableFailures(baseline);
    return {
      update: { ...asked, projectConfig: { ...config, ...(failedBefore && { failedBefore }) } },
      runNode: true,
    };
  }
  if (answer.action === 'accept') {
    const accepted = answer.failures ?? baseline.failing;
    return {
      update: { ...asked, projectConfig: { ...config, baseline: { ...baseline, accepted } } },
      runNode: true,
    };
  }
  const documents = withDocuments(state, [toBeMended(baseline.command, baseline.failing)], config.updatedAt);
  return { update: { ...asked, documents }, runNode: true };
}

function toBeMended(command: string, failing: readonly string[]) {
  const names = failing.map((name) => `- ${name}`).join('\n');
  return {
    type: 'BASELINE',
    title: 'The checks are red before any work',
    content: `\`${command}\` fails on the untouched repository. Before anything else is done, these are mended, by a task of their own that all others depend on:\n\n${names}\n`,
  };
}

/** How the checks went before any work, for the question of a gate; empty where they were not run. */
export function baselineLine({ projectConfig: { baseline } }: Pick<GraphState, 'projectConfig'>): string {
  if (baseline === undefined) return '';
  const { command, failing, accepted, flaky, cases, summary } = baseline;
  if (baseline.nothing === true) return ` Before any work there was nothing to check yet (${command}).`;
  const ran = cases === null ? '' : `, ${cases} test cases ran`;
  const state =
    failing.length === 0 ? 'passed' : `failed (${failing.length}, ${accepted.length} of them accepted)`;
  const unsteady = flaky.length === 0 ? '' : `, flaky: ${flaky.length}`;
  const said = summary === undefined ? `${command} ${state}${ran}` : `the checks ${state} (${summary})`;
  return ` Before any work ${said}${unsteady}.${slowLine(baseline)}`;
}

/** For the question of a gate. */
export const slowLine = ({ slow }: Pick<Baseline, 'slow'> = {}): string =>
  slow === undefined ? '' : ` ${slow}`;

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

const documentsEdit = lateSchema(() => editAction().extend({ documents: editedDocuments() }));

const planEdit = lateSchema(() => editAction().extend({ plan: planSchema() }));

const recordedDocumentsEdit = lateSchema(() => documentsEdit().extend(author().shape));

const recordedPlanEdit = lateSchema(() => planEdit().extend(author().shape));

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
function assertEditFits(answer: object, session: HitlSession, by: Principal): void {
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

const design = {
  given: givenApproval,
  recorded: lateSchema(() => z.union([recordedApproval(), recordedDocumentsEdit()])),
  edit: documentsEdit,
  shape: `${APPROVAL_SHAPE}, or edit it with { action: 'edit', documents }`,
  policyName: 'design',
  places: documentSections,
  tally: (asked, sessions) =>
    tallyComments({ ...asked, kind: 'design_approval' }, documentSections, sessions),
  assertFits: assertEditFits,
} satisfies GateRule;

const dag = {
  given: givenApproval,
  recorded: lateSchema(() => z.union([recordedApproval(), recordedPlanEdit()])),
  edit: planEdit,
  shape: `${APPROVAL_SHAPE}, or edit it with { action: 'edit', plan }`,
  policyName: 'dag',
  places: planSections,
  tally: (asked, sessions) => tallyComments({ ...asked, kind: 'dag_approval' }, planSections, sessions),
  assertFits: assertEditFits,
} satisfies GateRule;

/** What people write at the pipeline's gates enters its state, and its agents' prompts. */
function scrubbed<Rules extends GateRules>(rules: Rules): Rules {
  const all = Object.entries(rules).map(([kind, rule]) => [kind, { ...rule, scrub }]);
  return Object.fromEntries(all) as Rules;
}

/** Every kind of gate a run of the pipeline stops at. */
export const PIPELINE_GATES = scrubbed({
  ...ENGINE_GATES,
  design_approval: design,
  dag_approval: dag,
  review: reviewGate,
  baseline: baselineGate,
} satisfies Required<GateRules>);
