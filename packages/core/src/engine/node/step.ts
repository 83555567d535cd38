import { GraphDrained, isGraphBubbleUp } from '@langchain/langgraph';
import { maskPreciseDeep } from '../../masking/maskPrecise.ts';
import type { NewStep, RecordedStep, Reserve, StepKey, StepKind } from '../../state/StepStore.ts';
import type { CallUsage, UsageReport } from '../guards/usage.ts';
import { callUsage, totalUsage } from '../guards/usage.ts';
import { type ActiveVisit, activeVisit, isRecorded, type RecordedVisit } from './activeVisit.ts';
import { admitCall } from './admitCall.ts';
import { engineFaultOf } from './FaultBox.ts';
import { recordedKey } from './olderStep.ts';
import { type StepPlace, stepPlace } from './stepPlace.ts';

/** What a step's function is told. */
export interface StepCall {
  /** Idempotency key: the same for every attempt at this step, over retries and restarts. */
  readonly key: string;
  /** From 1. Above 1 the call was begun before, and how it ended is unknown. */
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** Reports what the call used; recorded with its result. LangChain's `usage_metadata` is understood. */
  readonly usage: (usage: UsageReport) => void;
}

export type StepFunction<T> = (call: StepCall) => Promise<T> | T;

export interface StepOptions {
  /**
   * A `call` is counted and checked against the run's budget before it is made; `work` costs nothing and is only
   * recorded. @defaultValue 'call'
   */
  readonly kind?: StepKind;
  /** The most the call may cost, held back until it has ended. @defaultValue as much as the run's largest call so far */
  readonly reserve?: Partial<Reserve>;
}

/**
 * Runs `fn` once per visit of the surrounding node and records its result; a re-execution of the node (resume,
 * retry, crash) gets the recorded result and `fn` is not called.
 *
 * A step is *finished* when its row is committed. A call that was in flight when the process died is made again,
 * with the same `key`. The result must be plain JSON; it is masked before it is stored, and the stored value is
 * what the first run gets too.
 *
 * A call that would pass the run's budget is not made: the node is left, a human is asked, and the node runs again once
 * the budget is raised. Recorded steps are free.
 *
 * Each task of a subgraph that the node runs is a place of its own, and so is each tool call: they may use the same names,
 * and so may the turns of a loop in the subgraph.
 *
 * @param name - Unique within its place: the node, the task of a subgraph, the tool call.
 * @throws TypeError outside a durable node, or if `name` was used before in this place.
 * @throws DevsError `VALUE_NOT_STORABLE` if the result is not plain JSON; `LEASE_LOST` if another driver took over;
 *   `STEP_AMBIGUOUS` if an older version recorded it and it cannot be told where.
 *
 * @example
 * ```ts
 * const draft = await step('draft', ({ key }) => callModel(prompt, { idempotencyKey: key }));
 * ```
 */
export async function step<T>(name: string, fn: StepFunction<T>, options: StepOptions = {}): Promise<T> {
  const active = activeVisit('step()');
  const place = stepPlace(active);
  claimName(active, place, name);
  if (!isRecorded(active)) return fn(callOf(active, { ...active.visit, lgTaskId: place.id, name }));
  if (active.fault !== null) throw active.fault;
  try {
    const key = recordedKey(active, place, name);
    return await recordedStep<T>(active, key instanceof Promise ? await key : key, fn, options);
  } catch (error) {
    // A node may catch what its steps throw, and LangGraph's ToolNode tells the model: the engine's own faults end it.
    active.fault ??= engineFaultOf(error);
    throw error;
  }
}

async function recordedStep<T>(
  active: RecordedVisit,
  id: StepKey,
  fn: StepFunction<T>,
  options: StepOptions,
): Promise<T> {
  const { store, visit } = active;
  const recorded = store.steps.find(id);
  if (recorded?.state === 'done') return recordedResult<T>(recorded);
  if (visit.isDraining()) throw new GraphDrained('stopped before a step');
  if (active.hasThrown) throw new GraphDrained('its node was left');

  const { reserve: declared = {}, ...kind } = options;
  const begun: NewStep = { ...id, ...kind, node: visit.node, taskId: active.taskId };
  const makeIt = (attempt: number): Promise<void> => make(active, begun, attempt, fn);
  if (begun.kind !== 'work' && store.budgets.isLimited(visit.threadId)) {
    await admitCall(active, { ...begun, declared }, makeIt);
  } else {
    const attempt = store.steps.intent(begun, store.fenceOf(visit));
    await active.calls.track(() => makeIt(attempt));
  }
  return recordedResult<T>(store.steps.find(id));
}

/** Makes the call and records what came of it. */
async function make<T>(
  active: RecordedVisit,
  step: NewStep,
  attempt: number,
  fn: StepFunction<T>,
): Promise<void> {
  const { store, visit } = active;
  const reports: CallUsage[] = [];
  const usage = (report: UsageReport): void => {
    reports.push(callUsage(report));
  };
  try {
    const value = await fn({ ...callOf(active, step), attempt, usage });
    finish(active, step, attempt, { value, reports });
  } catch (error) {
    // What stopped the node and not the call leaves it as begun.
    if (isGraphBubbleUp(error as Error) || engineFaultOf(error) !== null) throw error;
    store.steps.fail(step, totalUsage(reports, store.prices), store.fenceOf(visit));
    throw error;
  }
}

interface Ended {
  readonly value: unknown;
  readonly reports: readonly CallUsage[];
}

function finish(active: RecordedVisit, step: NewStep, attempt: number, { value, reports }: Ended): void {
  const { store, visit, taskId } = active;
  const { name } = step;
  const { value: masked, count } = maskPreciseDeep(value);
  const scope = { threadId: visit.threadId, taskId };
  store.transact(active.events, (emit) => {
    store.steps.finish(step, masked, totalUsage(reports, store.prices), store.fenceOf(visit));
    store.budgets.markTime(visit.threadId, taskId);
    // A recorded call is progress: only a driver that dies before one counts towards giving the run up.
    if (visit.epoch !== null) store.threads.resetRecoveries({ threadId: visit.threadId, epoch: visit.epoch });
    emit('STEP_FINISHED', { node: visit.node, step: name, attempt }, scope);
    if (count > 0) emit('SECRET_REDACTED', { place: `step ${name}`, count }, scope);
  });
}

/** Read back also the first time: a prompt made from the result is then the same text in every execution. */
function recordedResult<T>(recorded: RecordedStep | null): T {
  return (recorded?.state === 'done' ? recorded.result : undefined) as T;
}

function claimName({ stepNames, visit }: ActiveVisit, { id }: StepPlace, name: string): void {
  if (name === '') throw new TypeError('Expected a step name, got an empty string.');
  const claim = `${id}/${name}`;
  if (stepNames.has(claim)) {
    throw new TypeError(
      `Step "${name}" was used before in this visit of "${visit.node}"; names must differ.`,
    );
  }
  stepNames.add(claim);
}

function callOf({ visit: { signal } }: ActiveVisit, key: StepKey): StepCall {
  return { key: stepKeyOf(key), attempt: 1, signal, usage: () => {} };
}

/** What a call is told as its key: the same in every execution of its visit. */
export const stepKeyOf = ({ threadId, lgTaskId, name }: StepKey): string => `${threadId}/${lgTaskId}/${name}`;
