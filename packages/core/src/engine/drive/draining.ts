// How a driven run is asked to stop at its next safe point: by an aborted signal, or by a recorded request.

import { setMaxListeners } from 'node:events';
import { RunControl } from '@langchain/langgraph';
import { onNews } from '../../db/FileWatch.ts';
import { onAbort } from '../../events/onAbort.ts';
import type { FencedLease } from '../../state/commits/immediateTransaction.ts';
import type { Signal, SignalKind } from '../../state/threads/SignalStore.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { ASKED_TO_STOP } from './due.ts';

/** Asks a graph to stop at its next safe point when a signal is aborted. Returns what takes that back. */
export function drainOnAbort(control: RunControl, signals: readonly (AbortSignal | undefined)[]): () => void {
  const forget = signals.map((signal) => onAbort(signal, () => control.requestDrain(ASKED_TO_STOP)));
  return () => {
    for (const each of forget) each();
  };
}

/** A run's control that also says when it was asked to stop: to who drives something for the run. */
export class DrainControl extends RunControl {
  readonly #asked = new AbortController();

  constructor() {
    super();
    setMaxListeners(0, this.#asked.signal); // a run may have any number of children
  }

  get signal(): AbortSignal {
    return this.#asked.signal;
  }

  override requestDrain(reason?: string): void {
    super.requestDrain(reason);
    this.#asked.abort();
  }
}

/** Requests that stop a run at its next safe point. */
const STOPPING: readonly SignalKind[] = ['pause', 'cancel'];

type Requests = Pick<EngineStore, 'db' | 'runs' | 'threads'>;

/** The requests recorded for a run while it is driven. */
export class SignalWatch {
  readonly #store: Requests;
  readonly #lease: FencedLease;
  readonly #control: RunControl;
  readonly stop: () => void;

  constructor(store: Requests, lease: FencedLease, control: RunControl) {
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
      const [request] = this.#pending(STOPPING);
      if (request !== undefined) this.#control.requestDrain(request.kind);
    } catch {
      // Every write of the run finds the same fault, with a driver to report it to.
    }
  }

  #pending(kinds: readonly SignalKind[]): readonly Signal[] {
    return this.#store.threads.signals.pending(this.#lease.threadId, kinds);
  }
}
