import { setMaxListeners } from 'node:events';
import { RunControl } from '@langchain/langgraph';

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
