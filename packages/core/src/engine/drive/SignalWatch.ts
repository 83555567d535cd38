import type { RunControl } from '@langchain/langgraph';
import { onNews } from '../../db/FileWatch.ts';
import type { FencedLease } from '../../state/Fence.ts';
import type { Signal, SignalKind } from '../../state/ThreadStore.ts';
import type { EngineStore } from '../EngineStore.ts';

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
