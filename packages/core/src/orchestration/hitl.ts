// The two gates at which a person approves a proposal of the pipeline: the question, the decision, the edit.

import { interrupt, type LangGraphRunnableConfig } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { lateSchema } from '../config/lateSchema.ts';
import { isDriven, nodeExecutionOf } from '../engine/execution/nodeExecution.ts';
import { comments } from '../engine/gates/answerForms.ts';
import { type GateRule, type GateRules, isAnswer, isEdit } from '../engine/gates/engineGates.ts';
import {
  HumanInTheLoopManager as GateManager,
  HitlSessionNotFoundError,
  type HumanInTheLoopManagerOptions,
  type PauseOptions,
  type SessionDecision,
  type SuspendedSession,
} from '../engine/gates/HumanInTheLoopManager.ts';
import { askQuestion, questionAbout } from '../engine/gates/question.ts';
import { scrub } from '../masking/scrub.ts';
import { hashOf } from '../values/canonicalJson.ts';
import { dagArtifact, designArtifact } from './gates/artifacts.ts';
import { baselineLine, PIPELINE_GATES, type RecordedEdit } from './gates/pipelineGates.ts';
import { withDocuments } from './nodes/documents.ts';
import { editedPlan, lastIssuedNumber } from './nodes/plan.ts';
import { isEpicOpen } from './taskStates.ts';
import type {
  EditRecord,
  GraphState,
  HitlApprovalSignal,
  HitlDecisionRecord,
  HitlGate,
  HitlSessionKind,
  ProjectStatus,
} from './types.ts';

export type { Principal } from '../engine/gates/principals.ts';
export { type AskingNode, routeAfterApproveDesign, routeAfterApproveTaskDag } from './routing.ts';

export {
  type GateRule,
  type GateRules,
  type GraphState,
  type HitlApprovalSignal,
  type HitlDecisionRecord,
  type HitlGate,
  type HitlSessionKind,
  HitlSessionNotFoundError,
  type HumanInTheLoopManagerOptions,
  type PauseOptions,
  type RecordedEdit,
  type SessionDecision,
  type SuspendedSession,
};

/**
 * Opens gates and records their answers. Each gate is answered once, by a person who saw its content (law L2). Source:
 * 9_ROADMAP-REQ-006.
 */
export class HumanInTheLoopManager extends GateManager<GraphState> {
  /** @param db - An open, migrated state file. */
  constructor(db: Database, options: HumanInTheLoopManagerOptions = {}) {
    super(db, { rules: PIPELINE_GATES, ...options });
  }
}

/**
 * Gate after `design`: a person approves the documents (continues with `distill`), rejects them (`design`) or edits
 * them.
 */
export function approveDesignNode(state: GraphState, config?: LangGraphRunnableConfig): Partial<GraphState> {
  const approval = askForApproval(
    state,
    {
      gate: 'design_approval',
      node: 'approveDesign',
      message: `Read the documents. Approve them to have them broken down into tasks.${baselineLine(state)}`,
      artifact: designArtifact(state),
    },
    config,
  );
  if ('edit' in approval) return editDesign(state, approval);
  const decided = withDecision(state, 'design_approval', approval, {
    approved: 'planning',
    rejected: 'specifying',
  });
  if (!approval.signal.approved) return decided;
  return { ...decided, documents: state.documents.map((document) => ({ ...document, status: 'approved' })) };
}

function editDesign(state: GraphState, edited: EditedGate<'design_approval'>): Partial<GraphState> {
  const { documents: drafts, editedAt } = edited.edit;
  const documents = withDocuments(state, drafts, editedAt);
  const record = { artifactHash: hashOf(designArtifact({ ...state, documents })) };
  return recordEdit(state, 'design_approval', edited, { update: { documents }, record });
}

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

/** The new version, as the state holds it. */
interface NewVersion {
  readonly update: Partial<GraphState>;
  readonly record: EditRecord;
}

/** The state after a human changed what a gate shows: the new version, with its author, and the gate still open. */
function recordEdit(
  { hitlDecisions }: GraphState,
  gate: HitlGate,
  { artifactHash, edit: { editedBy, editedAt } }: EditedGate,
  { update, record }: NewVersion,
): Partial<GraphState> {
  const signal = { approved: false, approvedBy: editedBy, approvedAt: editedAt };
  const decision = { gate, signal, decidedAt: editedAt, artifactHash, edit: record };
  return { ...update, hitlDecisions: [...hitlDecisions, decision] };
}

/** The state after a gate was decided: the decision appended, the gate closed, a rejection counted. */
function withDecision(
  state: GraphState,
  gate: HitlGate,
  { signal, ...about }: GateDecision & Pick<HitlDecisionRecord, 'lastTaskNumber'>,
  status: { readonly approved: ProjectStatus; readonly rejected: ProjectStatus },
): Partial<GraphState> {
  const decidedAt = signal.approvedAt ?? new Date().toISOString();
  const next = signal.approved ? status.approved : status.rejected;
  return {
    hitlDecisions: [...state.hitlDecisions, { gate, signal, decidedAt, ...about }],
    pendingApprovalGate: null,
    status: next,
    projectConfig: { ...state.projectConfig, status: next },
    ...(!signal.approved && { rejections: { ...state.rejections, [gate]: state.rejections[gate] + 1 } }),
  };
}

export interface ApprovalRequest<Gate extends HitlGate> {
  readonly gate: Gate;
  readonly node: string;
  readonly message: string;
  /** What the human reads. */
  readonly artifact: unknown;
}

/** What a human did at a gate: decided on what was shown, or changed it. */
export type Approval<Gate extends HitlGate = HitlGate> = GateDecision | EditedGate<Gate>;

export interface GateDecision {
  readonly signal: HitlApprovalSignal;
  /** SHA-256 (hex) of what was shown. */
  readonly artifactHash: string;
}

export interface EditedGate<Gate extends HitlGate = HitlGate> {
  readonly edit: RecordedEdit<Gate>;
  /** SHA-256 (hex) of what was shown. */
  readonly artifactHash: string;
}

/**
 * Suspends the run until a human has decided. Nothing with an effect may stand before this call in a node: the
 * node's body runs again on resume.
 *
 * Under the driver only an answer keyed to this question counts. In plain LangGraph use a bare signal is taken
 * (`new Command({ resume: { approved: true } })`), and no edit; one that is none leaves the gate open.
 */
export function askForApproval<Gate extends HitlGate>(
  state: GraphState,
  { gate, node, message, artifact }: ApprovalRequest<Gate>,
  config: LangGraphRunnableConfig | undefined,
): Approval<Gate> {
  const visit = nodeExecutionOf(node, config ?? {});
  const question = {
    ...questionAbout(artifact, {
      kind: gate,
      key: `${gate}/${visit.lgTaskId}`,
      taskId: state.projectConfig.projectId,
      message,
    }),
    gate,
    currentStatus: 'paused_for_approval',
  };
  const { artifactHash } = question;
  if (!isDriven(config)) return { signal: askBare(question), artifactHash };
  const answer = askQuestion(question, (value) =>
    isAnswer(PIPELINE_GATES[gate as HitlGate], value) ? value : null,
  );
  // Its schema is that of the gate.
  if (isEdit(answer)) return { edit: answer as unknown as RecordedEdit<Gate>, artifactHash };
  return { signal: answer, artifactHash };
}

function askBare(question: object): HitlApprovalSignal {
  for (;;) {
    const signal = parseApprovalSignal(interrupt<object, unknown>(question));
    if (signal !== null) return scrub(signal).value;
  }
}

const approvalSignal = lateSchema(() =>
  z.strictObject({
    approved: z.boolean(),
    feedback: z.string().optional(),
    comments: comments().optional(),
    approvedBy: z.string().optional(),
    approvedAt: z.string().optional(),
  }),
);

/** The signal in a resume value, or `null` when it is none. */
export function parseApprovalSignal(value: unknown): HitlApprovalSignal | null {
  const parsed = approvalSignal().safeParse(value);
  return parsed.success ? (parsed.data as HitlApprovalSignal) : null;
}
