import { setMaxListeners } from 'node:events';
import { RunControl } from '@langchain/langgraph';

/** A run's control, with signals for everything that is driven for the run. */
export class StopControl extends RunControl {
  readonly #drain = new AbortController();
  readonly #abort = new AbortController();

  constructor() {
    super();
    // A run may have any number of children.
    setMaxListeners(0, this.#drain.signal, this.#abort.signal);
  }

  /** Aborted when the run was asked to stop at its next safe point, or at once. */
  get drained(): AbortSignal {
    return this.#drain.signal;
  }

  /** Aborted when calls in flight were to end. */
  get aborted(): AbortSignal {
    return this.#abort.signal;
  }

  override requestDrain(reason?: string): void {
    super.requestDrain(reason);
    this.#drain.abort();
  }

  /**
   * Ends calls in flight. The first request is the reason of the pause: a run that its process drains goes on elsewhere.
   *
   * @param cause - Reason of the signal that nodes, steps and tools have.
   */
  requestAbort(reason: string, cause: unknown): void {
    if (!this.drainRequested) this.requestDrain(reason);
    this.#abort.abort(cause);
  }
}

/** The signals that stop a drive. */
export interface DriveStops {
  readonly drain?: AbortSignal | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly abort?: AbortSignal | undefined;
  readonly lost?: AbortSignal | undefined;
  readonly above?: StopControl | undefined;
}
