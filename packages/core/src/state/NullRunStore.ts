import { type EventSink, emitEvent, type NewEvent } from '../events/events.ts';
import type { BegunStep, CallVerdict, NodeStore, NodeTurn } from './RunStore.ts';

/** Plain LangGraph use without a state file: nothing is recorded, fenced or asked of anybody; events go straight to the bus. */
export class NullRunStore implements NodeStore {
  readonly #events: EventSink;

  constructor(events: EventSink) {
    this.#events = events;
  }

  pending(): null {
    return null;
  }

  keepsUp(): null {
    return null;
  }

  async whenFree<T>(work: () => T): Promise<T> {
    return work();
  }

  assertDriven(): void {}

  humanDecided(): boolean {
    return false;
  }

  hasBegun(): boolean {
    return false;
  }

  policyOf(): undefined {
    return undefined;
  }

  enter(_at: unknown, { facts }: NodeTurn): void {
    this.#tell(facts);
  }

  leave(_at: unknown, { facts }: NodeTurn): void {
    this.#tell(facts);
  }

  note(_at: unknown, facts: readonly NewEvent[]): void {
    this.#tell(facts);
  }

  beginStep<Verdict extends CallVerdict>(
    _at: unknown,
    _step: unknown,
    judge: () => Verdict,
  ): BegunStep<Verdict> {
    return { attempt: 1, verdict: judge() };
  }

  endStep(): void {}

  endStepLate(): boolean {
    return false;
  }

  transcribe(): number {
    return 0;
  }

  suspend(): void {}

  #tell(facts: readonly NewEvent[]): void {
    for (const fact of facts)
      emitEvent(fact, (name, payload, scope) => this.#events.emit(name, payload, scope));
  }
}
