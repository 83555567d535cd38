import { GraphDrained } from '@langchain/langgraph';
import type { EventSink } from '../../events/EventBus.ts';
import type { NewWait, Wait, WaitKey } from '../../state/threads/WaitStore.ts';
import { noteHeard } from '../cache/GuardedCache.ts';
import { endWait, waitInterruptId } from '../waits/waits.ts';
import { type ActiveNode, isRecorded, type RecordedNode } from './ActiveNode.ts';
import { engineFaultOf } from './EngineFaults.ts';
import { activeNode } from './nodeContext.ts';
import { claimOf, recordedPlace, type StepPlace, stepPlace } from './stepPlace.ts';

/** What to wait for. */
export interface WaitSpec extends Pick<NewWait, 'purpose' | 'subject'> {
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
export async function waitHere(caller: string, awaiting: WaitSpec): Promise<Wait> {
  const active = activeNode(caller);
  assertMayWait(active, caller);
  const place = stepPlace(active);
  const count = active.waits.count(claimOf(place, awaiting.name));
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
  if (active.hasThrown) throw new GraphDrained('its node was left');
  // What is begun side by side is begun, though the first of it leaves the node.
  return active.calls.track(wait);
}

function waitAt(active: RecordedNode, key: WaitKey, awaiting: WaitSpec): Wait | Promise<Wait> {
  const isKnown = active.store.waits.find(key) !== null;
  if (awaiting.ready === undefined) {
    if (active.hasThrown) throw new GraphDrained('its node was left');
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
  if (active.calls.isInside)
    throw new TypeError(`${caller} cannot be called inside a step, because the step would execute twice.`);
}
