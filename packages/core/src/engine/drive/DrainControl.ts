import { RunControl } from '@langchain/langgraph';

/** A run's control that also says when it was asked to stop: to who drives something for the run. */
export class DrainControl extends RunControl {
  readonly #asked = new AbortController();

  get signal(): AbortSignal {
    return this.#asked.signal;
  }

  override requestDrain(reason?: string): void {
    super.requestDrain(reason);
    this.#asked.abort();
  }
}
