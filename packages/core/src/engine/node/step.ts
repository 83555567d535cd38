import { randomUUID } from 'node:crypto';
import { GraphDrained, isGraphBubbleUp } from '@langchain/langgraph';
import { type OptionNames, withKnownNames } from '../../config/knownOptions.ts';
import type { OnActivity } from '../../events/Activity.ts';
import { type NewEvent, newEventsOf } from '../../events/events.ts';
import type { StepEnd } from '../../state/RunStore.ts';
import { type StepStore, stepKeyOf } from '../../state/steps/StepStore.ts';
import { traceparentOf } from '../../state/steps/spanIds.ts';
import type {
  NewStep,
  Reserve,
  StepKey,
  StepKind,
  StepOnRecord,
  StepResult,
} from '../../state/steps/stepRecords.ts';
import type { StepActivities } from '../activity/StepActivities.ts';
import {
  faultInside,
  isRefusal,
  RefusedResult,
  refusedBefore,
  resultRefusal,
  resultToRecord,
} from '../execution/EngineFaults.ts';
import { asThrowable } from '../execution/thrown.ts';
import { nodeSliceMs, shouldYield, yieldToEventLoop } from '../execution/yieldToEventLoop.ts';
import { type UsageReport, UsageReports } from '../guards/usage.ts';
import { type ActiveNode, isRecorded, type RecordedNode } from './ActiveNode.ts';
import { admitCall, assertNotSpent } from './admitCall.ts';
import { diedAt, neverEnds } from './crashPoint.ts';
import { recordedKey } from './legacyStep.ts';
import { activeNode, isAlone } from './nodeContext.ts';
import { claimOf, type StepPlace, stepPlace } from './stepPlace.ts';

/** A call that no guard looks at. */
const UNLIMITED = { mayBegin: true, reserve: { usd: 0, tokens: 0 }, facts: [] };

/** The argument of a step's function. */
export interface StepCall {
  /** Idempotency key: the same for every attempt at this step, over retries and restarts. */
  readonly key: string;
  /** From 1. Above 1 the call was begun before, and how it ended is unknown. */
  readonly attempt: number;
  readonly signal: AbortSignal;
  /**
   * W3C Trace Context of this call. Send it as the header `traceparent`: the spans of the called service then join the spans of
   * the run. The same for every attempt, and no part of the key.
   */
  readonly traceparent: string;
  /**
   * Reports what the call used; recorded with its result. LangChain's `usage_metadata` is understood. A figure no call can
   * have is refused (`USAGE_REFUSED`) and counts as what was held back for the call; the result stays.
   */
  readonly usage: (usage: UsageReport) => void;
  /**
   * Call it before each request that this call makes, after `usage` of the one before. If the budget is used up, it throws
   * `BUDGET_SPENT`. The reports are recorded, the run asks a person, and the call is made again after the budget is raised.
   */
  readonly beforeRequest: () => void;
  /**
   * Tells what happens while it happens: listeners of the app get it, masked, and it is kept as the transcript of the
   * step. Never throws; what is told after the call has ended is not taken.
   */
  readonly onActivity: OnActivity;
}

export type StepFunction<T> = (call: StepCall) => Promise<T> | T;

export interface StepOptions {
  /**
   * A `call` is counted and checked against the run's budget before it is made; `work` is only recorded. @defaultValue
   * 'call'
   */
  readonly kind?: StepKind;
  /** Most the call can cost, reserved until it ends. @defaultValue the cost of the run's largest call so far */
  readonly reserve?: Partial<Reserve>;
}

/**
 * Runs `fn` once per execution of the surrounding node and records its result. If the node runs again (resume, retry,
 * crash), it returns the recorded result without calling `fn`.
 *
 * A step is *finished* when its row is committed. A call in flight at a crash is made again with the same `key`. The
 * result can be any value of LangGraph's state: plain values, LangChain messages and documents, dates, maps, sets,
 * bytes; also `NaN` and bigints. The first execution receives the stored value too: plain JSON as JSON, other values
 * equal, as instances of the same classes.
 *
 * A result that cannot be stored ends the run as failed and records the cost of the call. The call is made again when
 * you run the failed run again.
 *
 * A call that would pass the run's budget is not made: the run asks a person, and the node runs again after the budget
 * is raised. Recorded steps are free.
 *
 * Each task of a subgraph and each tool call is a place of its own: they can use the same names, and so can the
 * iterations of a loop in the subgraph.
 *
 * Outside `durable()`, in a unit test of a node or in plain LangGraph, it only calls `fn` with a new key.
 *
 * @param name - Unique within its place: the node, the task of a subgraph, the tool call.
 * @throws TypeError in a run outside its nodes, such as in an edge, or if this place used `name` before.
 * @throws TypeError for an unknown option or `kind`, before the call.
 * @throws DevsError `VALUE_NOT_STORABLE` or `VALUE_TOO_LARGE` if the result cannot be stored; `LEASE_LOST` if another
 *   process took over; `STEP_AMBIGUOUS` for an ambiguous step of version 0.1.0 that no person can be asked about.
 *
 * @example
 * ```ts
 * const draft = await step('draft', ({ key }) => callModel(prompt, { idempotencyKey: key }));
 * ```
 */
export async function step<T>(name: string, fn: StepFunction<T>, options: StepOptions = {}): Promise<T> {
  assertStepOptions(name, options);
  if (isAlone()) return alone(name, fn);
  const active = activeNode('step()');
  const place = stepPlace(active);
  claimName(active, place, name);
  if (!isRecorded(active)) return callUnrecorded(active, { ...active.visit, lgTaskId: place.id, name }, fn);
  const { isRetry } = place;
  return recordedCall<T>({ active, key: () => recordedKey(active, place, name), isRetry }, fn, options);
}

/** A call that is recorded under a key of its own. */
interface CallToRecord {
  readonly active: RecordedNode;
  readonly key: () => StepKey | Promise<StepKey>;
  /** In a retry by LangGraph. */
  readonly isRetry: boolean;
  /** Of the functional API: it may ask and wait. @defaultValue false */
  readonly isTask?: boolean;
}

/** @throws as {@link step}. */
export async function recordedCall<T>(
  { active, key, ...how }: CallToRecord,
  fn: StepFunction<T>,
  options: StepOptions = {},
): Promise<T> {
  if (active.fault !== null) throw active.fault;
  try {
    while (shouldYield(nodeSliceMs(active.visit.threadId))) await yieldToEventLoop();
    const found = key();
    const id = found instanceof Promise ? await found : found;
    return await recordedStep<T>({ active, id, ...how }, fn, options);
  } catch (error) {
    // A node may catch what its steps throw, and LangGraph's ToolNode tells the model: the engine's own faults end it.
    active.fault ??= isRefusal(error) ? new RefusedResult(error) : faultOf(error, active);
    throw error;
  }
}

const OPTIONS = { kind: true, reserve: true } satisfies OptionNames<StepOptions>;
const KINDS = { call: true, work: true } satisfies Readonly<Record<StepKind, true>>;

function assertStepOptions(name: string, options: StepOptions): void {
  const { kind } = withKnownNames(`step("${name}")`, options, OPTIONS);
  if (kind === undefined || Object.hasOwn(KINDS, kind)) return;
  throw new TypeError(`step("${name}"): \`kind\` is "call" or "work", not "${String(kind)}".`);
}

/** In a unit test of a node's function, or in a graph without `durable`. */
async function alone<T>(name: string, fn: StepFunction<T>): Promise<T> {
  assertStepName(name);
  const { signal } = new AbortController();
  const key = `${randomUUID()}/${name}`;
  const traceparent = traceparentOf({ threadId: key, lgTaskId: '', name });
  const nothing = (): void => {};
  return await fn({
    key,
    attempt: 1,
    signal,
    traceparent,
    usage: nothing,
    beforeRequest: nothing,
    onActivity: nothing,
  });
}

const faultOf = (error: unknown, { visit, surroundings }: ActiveNode): Error | null =>
  faultInside(error, visit, surroundings);

async function callUnrecorded<T>(active: ActiveNode, key: StepKey, fn: StepFunction<T>): Promise<T> {
  const told = active.told.begin(key, 1);
  try {
    return await fn({ ...stepCallOf(active, key), onActivity: told.tell });
  } finally {
    told.end();
    active.told.ended(told);
  }
}

type StepRequest = Omit<CallToRecord, 'key'> & { readonly id: StepKey };

async function recordedStep<T>(
  { active, id, isRetry, isTask = false }: StepRequest,
  fn: StepFunction<T>,
  options: StepOptions,
): Promise<T> {
  const { runs, store, visit } = active;
  const recorded = store.steps.find(id);
  if (recorded?.state === 'done') return recordedResult<T>(recorded, id, store.steps);
  if (recorded?.refused && (isRetry || visit.epoch !== null)) throw refusedBefore(recorded.refused, id.name);
  const { reserve: declared = {}, ...kind } = options;
  const begun: NewStep = { ...id, ...kind, node: visit.node, taskId: active.taskId };
  // Looked at once the file is free: until then the node may be left.
  const mayBegin = (): void => assertMayBegin(active, options, isTask);
  let written: StepResult | null = null;
  const makeIt = (attempt: number, reserve?: Reserve): Promise<void> =>
    active.calls.track(
      async () => {
        written = await makeCall(active, { ...begun, ...(reserve && { reserve }) }, attempt, fn);
      },
      isTask ? 'task' : 'step',
    );
  if (begun.kind !== 'work' && store.budgets.isLimited(visit.threadId)) {
    await admitCall(active, { ...begun, declared }, { assertMayBegin: mayBegin, make: makeIt });
  } else {
    const { made } = await runs.whenFree(() => {
      mayBegin();
      const { attempt } = runs.beginStep(visit, begun, () => UNLIMITED);
      return { made: makeIt(attempt ?? 1) };
    });
    await made;
  }
  return (await writtenResult(written, id, store.steps)) as T;
}

/**
 * Work within a call is a part of it: a drain waits for the call, and its cost is not lost. A task may end
 * after its node threw.
 */
function assertMayBegin(
  { visit, calls, isLeft }: RecordedNode,
  { kind }: StepOptions,
  isTask: boolean,
): void {
  const isPart = kind === 'work' && calls.isInside;
  if (visit.isDraining() && !isPart) throw new GraphDrained('stopped before a step');
  if (isLeft && !isTask) throw new GraphDrained('its node was left');
}

/** Makes the call and records what came of it. */
async function makeCall<T>(
  active: RecordedNode,
  step: NewStep,
  attempt: number,
  fn: StepFunction<T>,
): Promise<StepResult> {
  const { runs, store } = active;
  const reports = new UsageReports(step.reserve);
  const usage = (report: UsageReport): void => reports.add(report);
  const beforeRequest = (): void => assertNotSpent(active, step, reports);
  if (diedAt(`before step ${step.name}`)) await neverEnds();
  const asked = runs.pending();
  if (asked !== null) await asked;
  const told = active.told.begin(step, attempt);
  try {
    const value = await fn({
      ...stepCallOf(active, step),
      attempt,
      usage,
      beforeRequest,
      onActivity: told.tell,
    });
    if (diedAt(`in step ${step.name}`)) await neverEnds();
    const result = await resultToRecord(value, step.name, store);
    told.end();
    // The calls of many runs may have returned in one turn.
    while (shouldYield(nodeSliceMs(active.visit.threadId))) await yieldToEventLoop();
    await recordEnd(active, { ...step, attempt }, finished(active, step, attempt, { result, reports, told }));
    const answered = runs.pending();
    if (answered !== null) await answered;
    if (diedAt(`after step ${step.name}`)) await neverEnds();
    return result;
  } catch (error) {
    told.end();
    // What stopped the node and not the call leaves it as begun.
    if (isGraphBubbleUp(asThrowable(error) as Error) || faultOf(error, active) !== null) throw error;
    const end: StepEnd = {
      ...(isRefusal(error) ? { kind: 'refused', refusal: resultRefusal(error) } : { kind: 'failed' }),
      usage: reports.total(store.prices),
      facts: refusedUsage(active, step, reports),
      inSameTransaction: () => told.saveWith(),
    };
    await recordEnd(active, { ...step, attempt }, end);
    throw error;
  } finally {
    active.told.ended(told);
    told.save();
  }
}

interface EndedStep {
  readonly result: StepResult;
  readonly reports: UsageReports;
  readonly told: StepActivities;
}

/** A paid result is kept while this driver has the run, and after an abort until the run is resumed. */
async function recordEnd(
  { runs, visit }: RecordedNode,
  step: NewStep & { readonly attempt: number },
  end: StepEnd,
): Promise<void> {
  const wait = { forMs: Number.POSITIVE_INFINITY, signal: visit.signal };
  try {
    await runs.whenFree(() => runs.endStep(visit, step, end), wait);
  } catch (error) {
    if (!visit.signal.aborted) throw error;
    await runs.whenFree(() => {
      if (!runs.endStepLate(visit, step, end)) runs.endStep(visit, step, end);
    });
  }
}

function finished(
  active: RecordedNode,
  step: NewStep,
  attempt: number,
  { result, reports, told }: EndedStep,
): StepEnd {
  const { store, visit, taskId } = active;
  const { name } = step;
  const scope = { threadId: visit.threadId, taskId };
  const facts = newEventsOf((emit) =>
    emit('STEP_FINISHED', { node: visit.node, step: name, attempt }, scope),
  );
  return {
    kind: 'done',
    result,
    usage: reports.total(store.prices),
    facts: [...facts, ...refusedUsage(active, step, reports)],
    inSameTransaction: () => told.saveWith(),
  };
}

function refusedUsage(
  { visit, taskId }: RecordedNode,
  { name }: NewStep,
  { refused }: UsageReports,
): readonly NewEvent[] {
  const scope = { threadId: visit.threadId, taskId };
  return refused.slice(0, 1).map((reason) => ({
    name: 'USAGE_REFUSED',
    payload: { node: visit.node, step: name, reason },
    scope,
  }));
}

/** Read also the first time from what was written: a prompt made from it is then the same text in every execution. */
async function writtenResult(written: StepResult | null, id: StepKey, steps: StepStore): Promise<unknown> {
  if (written === null || written.codec !== null) return await steps.load(id);
  return written.json === null ? undefined : (JSON.parse(written.json) as unknown);
}

async function recordedResult<T>(recorded: StepOnRecord | null, id: StepKey, steps: StepStore): Promise<T> {
  if (recorded?.state !== 'done') return undefined as T;
  return (recorded.codec === undefined ? recorded.result : await steps.load(id)) as T;
}

function claimName({ claims, stepNames, visit }: ActiveNode, place: StepPlace, name: string): void {
  assertStepName(name);
  const claim = claimOf(place, name);
  if (claims.names.has(claim)) {
    throw new TypeError(
      `Step "${name}" is already used in this execution of "${visit.node}"; step names must be unique.`,
    );
  }
  claims.names.add(claim);
  stepNames.add(claim);
}

function assertStepName(name: string): void {
  if (name === '') throw new TypeError('Expected a step name, got an empty string.');
}

function stepCallOf({ visit: { signal } }: ActiveNode, key: StepKey): Omit<StepCall, 'onActivity'> {
  return {
    key: stepKeyOf(key),
    attempt: 1,
    signal,
    traceparent: traceparentOf(key),
    usage: () => {},
    beforeRequest: () => {},
  };
}
