import { currentNode, currentNodeStore } from '../../engine/node/nodeContext.ts';
import { type StepCall, type StepFunction, type StepOptions, step } from '../../engine/node/step.ts';
import { sleep } from '../../engine/node/waitFor.ts';
import { scrub } from '../../masking/scrub.ts';
import type { AgentCall, OfferedChecks } from '../ports.ts';
import { retryTimeOf } from '../robustness/classifyError.ts';

/**
 * A durable step of the pipeline: what agents, checks and the workspace say comes into its state here and nowhere else, without
 * the secrets that {@link scrub} finds. Files are no part of it: they go to the workspace as they are.
 *
 * If the provider of an agent names the hour of its next request, the run sleeps until then.
 */
export async function scrubbedStep<T>(name: string, fn: StepFunction<T>, options?: StepOptions): Promise<T> {
  const said = async (call: StepCall): Promise<T> => {
    const { value, count } = scrub(await fn(call));
    if (count > 0) await tellScrubbed(`step ${name}`, count);
    return value;
  };
  try {
    return await step(name, said, options);
  } catch (error) {
    await sleepUntilTaken(error);
    throw error;
  }
}

/** Each hour is slept for once: a provider that names it again after it has passed is out of reach. */
async function sleepUntilTaken(error: unknown): Promise<void> {
  const at = retryTimeOf(error);
  if (at === null || currentNodeStore() === null) return;
  await sleep(at, { name: `until ${at.toISOString().slice(0, 16)}` });
}

/** Told before the result is recorded, so that nothing is in the file untold. */
async function tellScrubbed(place: string, count: number): Promise<void> {
  const active = currentNode();
  if (active === null) return;
  const { runs, visit, taskId } = active;
  const scope = { threadId: visit.threadId, taskId };
  const fact = { name: 'SECRET_REDACTED', payload: { place, count }, scope } as const;
  // A paid result is not lost because another process writes.
  const wait = { forMs: Number.POSITIVE_INFINITY, signal: visit.signal };
  await runs.whenFree(() => runs.note(visit, [fact]), wait);
}

/** The durable step that an agent runs in, as the agent sees it. */
export function agentCall(
  { key, signal, usage, beforeRequest, onActivity }: StepCall,
  checks: OfferedChecks | null = null,
): AgentCall {
  return { idempotencyKey: key, signal, usage, beforeRequest, onActivity, ...(checks && { checks }) };
}
