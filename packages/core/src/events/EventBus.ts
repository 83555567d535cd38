import type { Activity, ActivityListener, ActivityScope } from './Activity.ts';
import type { EventName, EventScope, OrchestratorEvents } from './events.ts';

type Listener<Name extends EventName> = (payload: OrchestratorEvents[Name], scope: EventScope) => void;
type AnyListener = (name: EventName, payload: OrchestratorEvents[EventName], scope: EventScope) => void;
type Listeners = { [Name in EventName]?: Set<Listener<Name>> };

/** The part of the bus that engine code uses. */
export interface EventSink {
  emit<Name extends EventName>(name: Name, payload: OrchestratorEvents[Name], scope?: EventScope): void;
}

/**
 * A synchronous, typed event bus of this process. Errors of a listener do not reach the emitter. It also carries
 * activity of steps, which is not logged: see {@link onActivity}.
 */
export class EventBus implements EventSink {
  readonly #listeners: Listeners = {};
  readonly #anyListeners = new Set<AnyListener>();
  readonly #activityListeners = new Set<ActivityListener>();
  readonly #onListenerError: (error: unknown, name: EventName | 'activity') => void;

  constructor(onListenerError: (error: unknown, name: EventName | 'activity') => void = warnAboutListener) {
    this.#onListenerError = onListenerError;
  }

  /** Subscribes to one event; call the returned function to unsubscribe. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    const set: Set<Listener<Name>> = this.#listeners[name] ?? new Set();
    this.#listeners[name] = set as NonNullable<Listeners[Name]>;
    set.add(listener);
    return () => set.delete(listener);
  }

  /** Subscribes to every event; call the returned function to unsubscribe. */
  onAny(listener: AnyListener): () => void {
    this.#anyListeners.add(listener);
    return () => this.#anyListeners.delete(listener);
  }

  /** Subscribes to activity of agents, checks and setup; call the returned function to unsubscribe. */
  onActivity(listener: ActivityListener): () => void {
    this.#activityListeners.add(listener);
    return () => this.#activityListeners.delete(listener);
  }

  /** @param activity - Masked, because listeners show it. @param at - Milliseconds since the Unix epoch, UTC. */
  tell(activity: Activity, scope: ActivityScope, at: number): void {
    for (const listener of [...this.#activityListeners])
      this.#call('activity', () => listener(activity, scope, at));
  }

  emit<Name extends EventName>(name: Name, payload: OrchestratorEvents[Name], scope: EventScope = {}): void {
    const listeners: Iterable<Listener<Name>> = this.#listeners[name] ?? [];
    for (const listener of [...listeners]) this.#call(name, () => listener(payload, scope));
    for (const listener of [...this.#anyListeners]) this.#call(name, () => listener(name, payload, scope));
  }

  #call(name: EventName | 'activity', deliver: () => void): void {
    try {
      deliver();
    } catch (error) {
      this.#onListenerError(error, name);
    }
  }
}

function warnAboutListener(error: unknown, name: EventName | 'activity'): void {
  process.emitWarning(`A listener for ${name} failed: ${String(error)}`, 'DevsListenerWarning');
}

/** The process-wide bus. Pass another one where isolation matters: tests, two engines in one process. */
export const orchestratorEvents: EventBus = new EventBus();

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
