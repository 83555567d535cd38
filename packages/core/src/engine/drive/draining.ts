// How a driven run is asked to stop: by a signal of its caller, by a recorded request, or with the run above it.

import { onNews } from '../../db/FileWatch.ts';
import { onAbort } from '../../events/onAbort.ts';
import type { FencedLease } from '../../state/commits/immediateTransaction.ts';
import { type Signal, type SignalKind, STOPPING } from '../../state/threads/SignalStore.ts';
import type { DriveStops, StopControl } from '../execution/StopControl.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { ABORTED, ASKED_TO_STOP, STOPPED_WITH_PARENT } from './due.ts';

/** Stops a graph as its caller asks, and with the run above it. Returns the way to end that. */
export function followStops(
  control: StopControl,
  { drain, signal, abort, lost, above }: DriveStops,
): () => void {
  const whyAbove = (): string => (above?.drainReason === ASKED_TO_STOP ? ASKED_TO_STOP : STOPPED_WITH_PARENT);
  const forget = [
    onAbort(drain, () => control.requestDrain(ASKED_TO_STOP)),
    onAbort(above?.drained, () => control.requestDrain(whyAbove())),
    onAbort(above?.aborted, () => control.requestAbort(whyAbove(), above?.aborted.reason)),
    ...[signal, abort, lost].map((each) => onAbort(each, () => control.requestAbort(ABORTED, each?.reason))),
  ];
  return () => {
    for (const each of forget) each();
  };
}

/** A cancelled turn ends: a drain would wait for calls in vain. */
const endsCalls = ({ kind, payload }: Signal): boolean =>
  kind === 'cancel' || (payload as { readonly abort?: unknown } | null)?.abort === true;

type Requests = Pick<EngineStore, 'db' | 'runs' | 'threads'>;

/** The requests recorded for a run while it is driven. */
export class SignalWatch {
  readonly #store: Requests;
  readonly #lease: FencedLease;
  readonly #control: StopControl;
  readonly stop: () => void;

  constructor(store: Requests, lease: FencedLease, control: StopControl) {
    this.#store = store;
    this.#lease = lease;
    this.#control = control;
    this.stop = onNews(store.db, () => this.look());
  }

  has(kind: SignalKind): boolean {
    return this.#pending([kind]).length > 0;
  }

  consume(kind: SignalKind): void {
    this.#store.runs.consume(this.#lease, kind);
  }

  /**
   * Asks the run to stop where that was recorded. A file that cannot be read now is found by the next write; who is told must
   * not throw into the process.
   */
  look(): void {
    try {
      const requests = this.#pending(STOPPING);
      const [first] = requests;
      if (first === undefined) return;
      this.#control.requestDrain(first.kind);
      const last = requests.find(endsCalls);
      if (last !== undefined && !this.#control.aborted.aborted)
        this.#control.requestAbort(last.kind, stoppedError(last, this.#lease));
    } catch {
      // Every write of the run finds the same fault, with a driver to report it to.
    }
  }

  #pending(kinds: readonly SignalKind[]): readonly Signal[] {
    return this.#store.threads.signals.pending(this.#lease.threadId, kinds);
  }
}

const stoppedError = ({ kind }: Signal, { threadId }: FencedLease): DOMException =>
  new DOMException(`Run "${threadId}" was ${kind === 'cancel' ? 'cancelled' : 'paused'}.`, 'AbortError');
