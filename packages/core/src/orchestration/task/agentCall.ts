import type { StepCall } from '../../engine/node/step.ts';
import type { AgentCall, OfferedChecks } from '../ports.ts';

/** What an agent is told of the durable step it runs in. */
export function agentCall(
  { key, signal, usage, onActivity }: StepCall,
  checks: OfferedChecks | null = null,
): AgentCall {
  return { idempotencyKey: key, signal, usage, onActivity, ...(checks && { checks }) };
}
