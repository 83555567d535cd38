import type { RunControl } from '@langchain/langgraph';
import { onNews } from '../../db/FileWatch.ts';
import type { SignalKind, ThreadStore } from '../../state/ThreadStore.ts';
import type { EngineStore } from '../EngineStore.ts';

/** Requests that stop a run at its next safe point. */
const STOPPING: readonly SignalKind[] = ['pause', 'cancel'];

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
    return this.#threads.signals.pending(this.#threadId, [kind]).length > 0;
  }

  consume(kind: SignalKind): void {
    const { signals } = this.#threads;
    for (const { id } of signals.pending(this.#threadId, [kind])) signals.consume(id);
  }

  /** A file that cannot be read now is found by the next write; who is told must not throw into the process. */
  #look(control: RunControl): void {
    try {
      const [request] = this.#threads.signals.pending(this.#threadId, STOPPING);
      if (request !== undefined) control.requestDrain(request.kind);
    } catch {
      // Every write of the run finds the same fault, with a driver to report it to.
    }
  }
}
