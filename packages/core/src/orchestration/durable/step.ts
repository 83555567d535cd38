import { GraphDrained } from '@langchain/langgraph';
import { maskPreciseDeep } from '../../masking/maskPrecise.ts';
import type { RecordedStep } from '../../state/StepStore.ts';
import type { CallUsage } from '../ports.ts';
import { type ActiveVisit, activeVisit } from './activeVisit.ts';

/** What a step's function is told. */
export interface StepCall {
  /** Idempotency key: the same for every attempt at this step, over retries and restarts. */
  readonly key: string;
  /** From 1. Above 1 the call was begun before, and how it ended is unknown. */
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** Reports what the call cost; recorded with its result. */
  readonly usage: (usage: CallUsage) => void;
}

export type StepFunction<T> = (call: StepCall) => Promise<T> | T;

/**
 * Runs `fn` once per visit of the surrounding node and records its result; a re-execution of the node (resume,
 * retry, crash) gets the recorded result and `fn` is not called.
 *
 * A step is *finished* when its row is committed. A call that was in flight when the process died is made again,
 * with the same `key`. The result must be plain JSON; it is masked before it is stored, and the stored value is
 * what the first run gets too.
 *
 * @param name - Unique within the node.
 * @throws TypeError outside a durable node, or if `name` was used before in this visit.
 * @throws DevsError `VALUE_NOT_STORABLE` if the result is not plain JSON; `LEASE_LOST` if another driver took over.
 *
 * @example
 * ```ts
 * const draft = await step('draft', ({ key }) => callModel(prompt, { idempotencyKey: key }));
 * ```
 */
export async function step<T>(name: string, fn: StepFunction<T>): Promise<T> {
  const active = activeVisit('step()');
  claimName(active, name);
  const { store, visit } = active;
  if (store === null) return fn(unrecordedCall(active, name));

  const id = { threadId: visit.threadId, lgTaskId: visit.lgTaskId, name };
  const recorded = store.steps.find(id);
  if (recorded?.state === 'done') return recordedResult<T>(recorded);
  if (visit.isDraining()) throw new GraphDrained('stopped before a step');

  const fence = store.fenceOf(visit);
  const attempt = store.steps.intent({ ...id, node: visit.node, taskId: active.taskId }, fence);
  const usages: CallUsage[] = [];
  const value = await fn({ ...unrecordedCall(active, name), attempt, usage: (usage) => usages.push(usage) });
  const { value: masked, count } = maskPreciseDeep(value);
  const scope = { threadId: visit.threadId, taskId: active.taskId };
  store.transact(active.events, (emit) => {
    store.steps.finish(id, masked, total(usages), fence);
    // A recorded call is progress: only a driver that dies before one counts towards giving the run up.
    if (visit.epoch !== null) store.threads.resetRecoveries({ threadId: visit.threadId, epoch: visit.epoch });
    emit('STEP_FINISHED', { node: visit.node, step: name, attempt }, scope);
    if (count > 0) emit('SECRET_REDACTED', { place: `step ${name}`, count }, scope);
  });
  return recordedResult<T>(store.steps.find(id));
}

/** Read back also the first time: a prompt made from the result is then the same text in every execution. */
function recordedResult<T>(recorded: RecordedStep | null): T {
  return (recorded?.state === 'done' ? recorded.result : undefined) as T;
}

function claimName({ stepNames, visit }: ActiveVisit, name: string): void {
  if (name === '') throw new TypeError('Expected a step name, got an empty string.');
  if (stepNames.has(name)) {
    throw new TypeError(
      `Step "${name}" was used before in this visit of "${visit.node}"; names must differ.`,
    );
  }
  stepNames.add(name);
}

function unrecordedCall({ visit }: ActiveVisit, name: string): StepCall {
  const key = `${visit.threadId}/${visit.lgTaskId}/${name}`;
  return { key, attempt: 1, signal: visit.signal, usage: () => {} };
}

function total(usages: readonly CallUsage[]): CallUsage {
  return usages.reduce<CallUsage>(
    (sum, { tokensIn = 0, tokensOut = 0, costUsd = 0 }) => ({
      tokensIn: (sum.tokensIn ?? 0) + tokensIn,
      tokensOut: (sum.tokensOut ?? 0) + tokensOut,
      costUsd: (sum.costUsd ?? 0) + costUsd,
    }),
    {},
  );
}
