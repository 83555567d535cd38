// Waiting in a node: `sleep`, `waitFor` and `child`, on top of `waitHere`.

import { GraphDrained } from '@langchain/langgraph';
import { type OptionNames, withKnownNames } from '../../config/knownOptions.ts';
import type { EventSink } from '../../events/events.ts';
import type { Principal } from '../../state/gates/hitlSession.ts';
import type { EndedStatus } from '../../state/threads/threadRecords.ts';
import type { NewWait, Wait, WaitKey } from '../../state/threads/WaitStore.ts';
import { currentDrive, noteHeard } from '../execution/driveContext.ts';
import { engineFaultOf } from '../execution/EngineFaults.ts';
import { lawHere } from '../execution/lawOf.ts';
import { newRunIdOf } from '../runs/runId.ts';
import {
  assertMayBeChild,
  CHILD,
  type ChildApp,
  type ChildOptions,
  childAppOf,
  childAppsOf,
} from '../waits/children.ts';
import { endWait, type Message, messageOf, signalName, waitInterruptId } from '../waits/waits.ts';
import { type ActiveNode, isRecorded, type RecordedNode } from './ActiveNode.ts';
import { activeNode, outsideNode } from './nodeContext.ts';
import { claimOf, recordedPlace, type StepPlace, stepPlace } from './stepPlace.ts';

export interface SleepOptions {
  /** Needed where a node sleeps side by side after work whose order may change. @defaultValue its place in the order */
  readonly name?: string;
}

const SLEEP = { name: true } satisfies OptionNames<SleepOptions>;

/**
 * Suspends the run in a node until a time, without holding a process. The time counts from the first execution, on the
 * app's clock. Also works in subgraphs and tools.
 *
 * The node runs again from its first line, so put earlier work into a `step`. A past date and 0 do not suspend.
 *
 * @param until - Milliseconds, or a date.
 * @throws TypeError outside a node of a run, and inside a step.
 * @throws RangeError for `NaN`, a negative number, or a date past ±8.64e15 ms.
 *
 * @example
 * ```ts
 * await step('remind', ({ key }) => mail('Please answer', key));
 * await sleep(3 * 24 * 60 * 60 * 1000);
 * ```
 */
export async function sleep(until: Until, options: SleepOptions = {}): Promise<void> {
  const { name = '' } = withKnownNames('sleep()', options, SLEEP);
  dueDate(until, 0);
  await waitHere('sleep()', {
    purpose: 'sleep',
    subject: null,
    name: `sleep/${name}`,
    dueAt: (now) => dueDate(until, now),
  });
}

/** Result of a wait with a timeout. */
export type WaitResult<Payload> =
  | { readonly timedOut: false; readonly payload: Payload; readonly by: Principal }
  | { readonly timedOut: true };

export interface WaitForOptions {
  /** How long at most: milliseconds, or a date. */
  readonly within: Until;
}

const WAIT_FOR = { within: true } satisfies OptionNames<WaitForOptions>;

/**
 * Waits in a node for a signal with this name, see `app.signal`. The run is suspended and holds no process. Each signal
 * is delivered once, oldest first; an early one stays stored. Also works in subgraphs and tools.
 *
 * With `within`, the first of signal and timeout is final. A signal that is stored when the run resumes wins, however
 * late it is.
 *
 * @throws TypeError outside a node of a run, inside a step, and for an empty name.
 * @throws RangeError for an invalid `within`, see `sleep`.
 *
 * @example
 * ```ts
 * const paid = await waitFor<Payment>('payment', { within: 14 * DAY });
 * return { state: paid.timedOut ? 'overdue' : paid.payload.state };
 * ```
 */
export async function waitFor<Payload = unknown>(name: string): Promise<Payload>;

export async function waitFor<Payload = unknown>(
  name: string,
  options: WaitForOptions,
): Promise<WaitResult<Payload>>;

export async function waitFor(name: string, options?: WaitForOptions): Promise<unknown> {
  const subject = signalName(name, lawHere());
  if (options !== undefined) dueDate(withKnownNames(`waitFor("${name}")`, options, WAIT_FOR).within, 0);
  const { metBy } = await waitHere('waitFor()', {
    purpose: 'signal',
    subject,
    name: `signal/${subject}`,
    dueAt: (now) => (options === undefined ? null : dueDate(options.within, now)),
  });
  if (metBy === null) return { timedOut: true };
  const { store } = activeNode('waitFor()') as RecordedNode;
  const { payload, by }: Message = messageOf(metBy, store);
  return options === undefined ? payload : { timedOut: false, payload, by };
}

/** The last moment that a `Date` can name, in milliseconds since the Unix epoch. */
const LAST_MOMENT = 8.64e15;

/** How long, in milliseconds, or until when. */
type Until = number | Date;

/**
 * When it is over, in milliseconds since the Unix epoch, counted from `now`.
 *
 * @throws TypeError for what is neither; RangeError for a date that is none, or a number that is negative or leads to none.
 */
function dueDate(until: Until, now: number): number {
  if (until instanceof Date) {
    const at = until.getTime();
    if (!Number.isNaN(at)) return at;
    throw new RangeError('Expected a valid date.');
  }
  if (typeof until !== 'number') throw new TypeError('Expected milliseconds or a Date.');
  const at = now + until;
  if (until >= 0 && at <= LAST_MOMENT) return Math.ceil(at);
  throw new RangeError(`Expected milliseconds from 0 up to the year 275760, got ${until}.`);
}

/** A wait, as its caller describes it. */
interface WaitSpec extends Pick<NewWait, 'purpose' | 'subject'> {
  /** Told from other waits of its place by it, and by how many of that name were before. */
  readonly name: string;
  /** When it ends by itself, in milliseconds since the Unix epoch; read in the first execution alone. */
  readonly dueAt: (now: number) => number | null;
  /** Makes ready what is begun with the wait; what it returns is called in the transaction that records the wait. */
  readonly ready?: () => Promise<BeginWait>;
}

type BeginWait = (emit: EventSink['emit']) => void;

/**
 * Waits in the node around this code: returns the wait once it has ended, and leaves the node until then. No process is
 * held; the node runs again when its run is driven and the wait has ended.
 *
 * @param caller - For the message to whoever calls it in the wrong place.
 * @throws GraphInterrupt while it has not ended.
 * @throws TypeError outside a node of a run, and inside a step, whose call would be made twice.
 * @throws RangeError for a date that is none.
 */
async function waitHere(caller: string, awaiting: WaitSpec): Promise<Wait> {
  const active = activeNode(caller);
  assertMayWait(active, caller);
  const place = stepPlace(active);
  const count = active.countWait(claimOf(place, awaiting.name));
  if (active.fault !== null) throw active.fault;
  const wait = async (): Promise<Wait> => {
    try {
      const name = `${awaiting.name}#${count}`;
      const key = (id: string): WaitKey => ({ threadId: active.visit.threadId, place: id, name });
      const found = recordedPlace(active, place, (id) => active.store.waits.find(key(id)) !== null);
      const at: StepPlace = found instanceof Promise ? await found : found;
      return await waitAt(active, key(at.id), awaiting);
    } catch (error) {
      active.fault ??= engineFaultOf(error);
      throw error;
    }
  };
  if (awaiting.ready === undefined) return wait();
  if (active.isLeft) throw new GraphDrained('its node was left');
  // What is begun side by side is begun, though the first of it leaves the node.
  return active.calls.track(wait);
}

function waitAt(active: RecordedNode, key: WaitKey, awaiting: WaitSpec): Wait | Promise<Wait> {
  const isKnown = active.store.waits.find(key) !== null;
  if (awaiting.ready === undefined) {
    if (active.isLeft) throw new GraphDrained('its node was left');
    return recordWait(active, key, { ...awaiting, isKnown });
  }
  if (isKnown) return recordWait(active, key, { ...awaiting, isKnown });
  return awaiting.ready().then((begin) => recordWait(active, key, { ...awaiting, isKnown, begin }));
}

interface RecordingWait extends Pick<WaitSpec, 'purpose' | 'subject' | 'dueAt'> {
  readonly isKnown: boolean;
  readonly begin?: BeginWait;
}

function recordWait(
  active: RecordedNode,
  key: WaitKey,
  { purpose, subject, dueAt, isKnown, begin = () => {} }: RecordingWait,
): Wait {
  const { store, visit } = active;
  const now = store.now();
  const due = isKnown ? null : dueAt(now);
  const wait = store.commitUnder(visit, (emit) => {
    begin(emit);
    const asked: NewWait = { ...key, purpose, subject, interruptId: waitInterruptId(key), dueAt: due };
    return endWait(store.waits.begin(asked), { store, emit, now });
  });
  if (wait.state === 'pending') throw active.waits.leaveAt(wait);
  noteHeard();
  return wait;
}

function assertMayWait(active: ActiveNode, caller: string): asserts active is RecordedNode {
  if (!isRecorded(active) || active.visit.epoch === null)
    throw new TypeError(`${caller} needs a run: start the graph with app.run().`);
  if (active.calls.isInsideStep)
    throw new TypeError(`${caller} cannot be called inside a step, because the step would execute twice.`);
}

/** How a child run has ended. */
export interface ChildResult<Output> {
  /** A child that failed does not throw: what that means is its parent's business. */
  readonly status: EndedStatus;
  readonly reason: string | null;
  /** What its graph's output schema had then, as of `run`; `null` where it had not begun. */
  readonly values: Output | null;
}

/** The app of a child run: what `durable()` returns. */
export interface AppOf<Output, Update> {
  run(id: string, input?: Update): Promise<{ readonly values: Output | null }>;
}

/**
 * Starts the run `id` of another app of the same state file, or finds it, and returns its result after it has ended.
 * The parent is suspended meanwhile. The child has its own lease; the process that runs the parent runs it too, and any
 * other process can. Also works in subgraphs and tools; parallel children run in parallel.
 *
 * The node runs again from its first line after the child has ended, so put earlier work into a `step`. The same call
 * finds the same child with its first input. A child has one parent; several places of the parent can wait for it with
 * the same input.
 *
 * @throws TypeError outside a node of a run, inside a step, for an invalid app or one of another state file, and for an
 *   empty id. The state file is unchanged then.
 * @throws DevsError `CHILD_NOT_TAKEN` for the id of another run, of the parent itself or of a run above it;
 *   `INPUT_NOT_TAKEN` for another input; `INVALID_INPUT`, `VALUE_NOT_STORABLE` as `run`.
 *
 * @example
 * ```ts
 * const [facts, prices] = await Promise.all([
 *   child(research, `${id}/facts`, { topic }),
 *   child(research, `${id}/prices`, { topic: `prices of ${topic}` }),
 * ]);
 * ```
 */
export async function child<Output, Update>(
  app: AppOf<Output, Update>,
  id: string,
  input: Update,
  options: ChildOptions = {},
): Promise<ChildResult<Output>> {
  const active = activeNode('child()');
  if (!isRecorded(active)) throw new TypeError('child() needs a run: start the graph with app.run().');
  const given = withKnownNames('child()', options, CHILD);
  const below = childAppOf(app, active.store);
  childAppsOf(currentDrive()).set(newRunIdOf(id), below);
  await waitHere('child()', {
    purpose: 'child',
    subject: id,
    name: `child/${id}`,
    dueAt: () => null,
    ready: () => beginning(active, below, { id, input, options: given }),
  });
  const { status, reason, checkpointId } = active.store.children.endOf(id);
  const values = await outsideNode(() => below.endedWith(id, checkpointId));
  return { status: status as EndedStatus, reason, values: values as Output | null };
}

interface AskedChild {
  readonly id: string;
  readonly input: unknown;
  readonly options: ChildOptions;
}

/** Prepares the child; what is returned records it and whose it is, in the transaction that begins the wait. */
async function beginning(
  active: RecordedNode,
  app: ChildApp,
  { id, input, options }: AskedChild,
): Promise<(emit: EventSink['emit']) => void> {
  const { store, visit } = active;
  const asked = { childId: id, parentId: visit.threadId };
  const isKnown = assertMayBeChild(asked, store);
  const run = await outsideNode(() => app.ready(id, input, options));
  if (isKnown) await run.assertSame();
  return (emit) => {
    // Whoever cancels the run cancels the children it has.
    if (store.threads.signals.pending(visit.threadId, ['cancel']).length > 0)
      throw new GraphDrained('cancelled before a child');
    if (assertMayBeChild(asked, store)) return;
    run.record(store, emit);
    store.children.insert(asked);
    store.labels.inherit(visit.threadId, id);
  };
}
