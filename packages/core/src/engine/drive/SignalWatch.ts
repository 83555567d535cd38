import type { RunControl } from '@langchain/langgraph';
import type { SignalKind, ThreadStore } from '../../state/ThreadStore.ts';

/** How often a driver looks for requests that other processes recorded, ms. */
const LOOK_EVERY_MS = 500;

/** Requests that stop a run at its next safe point. */
const STOPPING: readonly SignalKind[] = ['pause', 'cancel'];

/** The requests recorded for a run while it is driven. */
export class SignalWatch {
  readonly #threads: ThreadStore;
  readonly #threadId: string;
  readonly #timer: NodeJS.Timeout;

  /** A pause that was asked for before this drive has been overtaken by it. */
  constructor(threads: ThreadStore, threadId: string, control: RunControl) {
    this.#threads = threads;
    this.#threadId = threadId;
    this.consume('pause');
    this.#timer = setInterval(() => this.#look(control), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  has(kind: SignalKind): boolean {
    return this.#threads.signals.pending(this.#threadId, [kind]).length > 0;
  }

  consume(kind: SignalKind): void {
    const { signals } = this.#threads;
    for (const { id } of signals.pending(this.#threadId, [kind])) signals.consume(id);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** A file that cannot be read now is found by the next write; the timer must not throw into the process. */
  #look(control: RunControl): void {
    try {
      const [request] = this.#threads.signals.pending(this.#threadId, STOPPING);
      if (request !== undefined) control.requestDrain(request.kind);
    } catch {
      // Every write of the run finds the same fault, with a driver to report it to.
    }
  }
}
