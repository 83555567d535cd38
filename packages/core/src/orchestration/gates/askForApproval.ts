import { interrupt, type LangGraphRunnableConfig } from '@langchain/langgraph';
import { isAnswer, isEdit } from '../../engine/gates/answers.ts';
import { askQuestion, questionAbout } from '../../engine/gates/question.ts';
import { isDriven, nodeExecutionOf } from '../../engine/nodeExecution.ts';
import { scrub } from '../../masking/scrub.ts';
import type { GraphState, HitlApprovalSignal, HitlGate } from '../types.ts';
import { parseApprovalSignal } from './approvalSignal.ts';
import type { RecordedEdit } from './gateEdit.ts';
import { PIPELINE_GATES } from './pipelineGates.ts';

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
