import type { EventSink } from './EventBus.ts';
import type { EventName, EventScope, OrchestratorEvents } from './events.ts';

type NewEventOf<Name extends EventName> = {
  readonly name: Name;
  readonly payload: OrchestratorEvents[Name];
  readonly scope: EventScope;
  /** What it is a firing of: it is told once for each, over kills and repeated executions. @defaultValue it is told */
  readonly once?: string;
};

/** An event that is told when, and only if, what it is about is on record. */
export type NewEvent = { [Name in EventName]: NewEventOf<Name> }[EventName];

/** What `raise` raises, to be told later. */
export function newEventsOf(raise: (emit: EventSink['emit']) => void): readonly NewEvent[] {
  const facts: NewEvent[] = [];
  raise((name, payload, scope = {}) => facts.push({ name, payload, scope } as NewEvent));
  return facts;
}

/** Tells a fact. */
export function emitEvent({ name, payload, scope }: NewEvent, emit: EventSink['emit']): void {
  emit(name, payload, scope);
}
