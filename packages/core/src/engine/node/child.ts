import { GraphDrained } from '@langchain/langgraph';
import type { EventSink } from '../../events/EventBus.ts';
import type { EndedStatus } from '../../state/threads/threadRecords.ts';
import { currentDrive } from '../execution/driveContext.ts';
import {
  assertMayBeChild,
  type ChildApp,
  type ChildOptions,
  childAppOf,
  childAppsOf,
} from '../waits/children.ts';
import { isRecorded, type RecordedNode } from './ActiveNode.ts';
import { activeNode, outsideNode } from './nodeContext.ts';
import { waitHere } from './waitFor.ts';

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
  if (typeof id !== 'string' || id === '') throw new TypeError('Expected the id of the child run.');
  if (!isRecorded(active)) throw new TypeError('child() needs a run: start the graph with app.run().');
  const below = childAppOf(app, active.store);
  childAppsOf(currentDrive()).set(id, below);
  await waitHere('child()', {
    purpose: 'child',
    subject: id,
    name: `child/${id}`,
    dueAt: () => null,
    ready: () => beginning(active, below, { id, input, options }),
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
  };
}
