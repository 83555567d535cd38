import type { RunControl } from '@langchain/langgraph';
import { onNews } from '../../db/FileWatch.ts';
import type { SignalKind, ThreadStore } from '../../state/ThreadStore.ts';
import type { EngineStore } from '../EngineStore.ts';

/** Requests that stop a run at its next safe point. */
const STOPPING: ReadonlySet<SignalKind> = new Set<SignalKind>(['pause', 'cancel']);

/** The requests recorded for a run while it is driven. */
export class SignalWatch {
  readonly #threads: ThreadStore;
  readonly #threadId: string;
  readonly stop: () => void;

  constructor({ db, threads }: Pick<EngineStore, 'db' | 'threads'>, threadId: string, control: RunControl) {
    this.#threads = threads;
    this.#threadId = threadId;
    this.stop = onNews(db, () => this.#look(control));
  }

  has(kind: SignalKind): boolean {
    return this.#threads.signals.pending(this.#threadId).some((signal) => signal.kind === kind);
  }

  consume(kind: SignalKind): void {
    for (const signal of this.#threads.signals.pending(this.#threadId)) {
      if (signal.kind === kind) this.#threads.signals.consume(signal.id);
    }
  }

  /** A file that cannot be read now is found by the next write; who is told must not throw into the process. */
  #look(control: RunControl): void {
    try {
      const request = this.#threads.signals.pending(this.#threadId).find(({ kind }) => STOPPING.has(kind));
      if (request !== undefined) control.requestDrain(request.kind);
    } catch {
      // Every write of the run finds the same fault, with a driver to report it to.
    }
  }
}
