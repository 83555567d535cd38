import { AsyncLocalStorage } from 'node:async_hooks';

/** The call around this code: a step, or a task of the functional API, which may ask and wait. */
type InsideOf = 'step' | 'task';

/** Set inside a call: one that waited for the calls in flight would wait for itself. */
const insideCall = new AsyncLocalStorage<InsideOf>();

/** The calls of one visit of a node that have begun and not ended. */
export class CallsInFlight {
  readonly #calls = new Set<Promise<void>>();
  /** With all their attempts. */
  readonly #tasks = new Set<Promise<unknown>>();

  /** Whether this code runs inside one of them. */
  get isInside(): boolean {
    return insideCall.getStore() !== undefined;
  }

  get isInsideStep(): boolean {
    return insideCall.getStore() === 'step';
  }

  track<T>(call: () => Promise<T>, kind: InsideOf = 'step'): Promise<T> {
    const running = insideCall.run(this.isInsideStep ? 'step' : kind, call);
    const forget = (): void => {
      this.#calls.delete(ended);
    };
    const ended: Promise<void> = running.then(forget, forget);
    this.#calls.add(ended);
    return running;
  }

  /** A task that LangGraph runs: the visit is not left before it has ended. */
  trackTask<T>(running: Promise<T>): Promise<T> {
    const forget = (): void => {
      this.#tasks.delete(ended);
    };
    const ended: Promise<void> = running.then(forget, forget);
    this.#tasks.add(ended);
    return running;
  }

  /** Resolves when one of them has ended; `null` when there is none to wait for. */
  next(): Promise<void> | null {
    return this.#calls.size === 0 || this.isInside ? null : Promise.race(this.#calls);
  }

  /** Resolves when all have ended, however they did. */
  async settled(): Promise<void> {
    while (this.#calls.size + this.#tasks.size > 0) await Promise.all([...this.#calls, ...this.#tasks]);
  }
}
