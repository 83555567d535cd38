import { interrupt, type LangGraphRunnableConfig } from '@langchain/langgraph';
import { maskPreciseDeep } from '../../masking/maskPrecise.ts';
import { ask } from '../durable/ask.ts';
import { questionAbout } from '../durable/entry.ts';
import { isDriven, visitOf } from '../durable/visit.ts';
import type { GraphState, HitlApprovalSignal, HitlGate } from '../types.ts';
import { parseApprovalSignal } from './approvalSignal.ts';

interface ApprovalRequest {
  readonly gate: HitlGate;
  readonly node: string;
  readonly message: string;
  /** What the human reads. */
  readonly artifact: unknown;
}

export interface Approval {
  readonly signal: HitlApprovalSignal;
  /** SHA-256 (hex) of what was shown. */
  readonly artifactHash: string;
}

/**
 * Suspends the run until a human has decided. Nothing with an effect may stand before this call in a node: the
 * node's body runs again on resume.
 *
 * Under the driver only an answer keyed to this question counts. In plain LangGraph use a bare signal is taken
 * (`new Command({ resume: { approved: true } })`); one that is none leaves the gate open.
 */
export function askForApproval(
  state: GraphState,
  { gate, node, message, artifact }: ApprovalRequest,
  config: LangGraphRunnableConfig | undefined,
): Approval {
  const visit = visitOf(node, config ?? {});
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
  const signal = isDriven(config) ? ask(question, parseApprovalSignal) : askBare(question);
  return { signal, artifactHash: question.artifactHash };
}

function askBare(question: object): HitlApprovalSignal {
  for (;;) {
    const signal = parseApprovalSignal(interrupt<object, unknown>(question));
    if (signal !== null) return maskPreciseDeep(signal).value;
  }
}
