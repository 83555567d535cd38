import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventBus } from '../../events/EventBus.ts';
import type { EngineStore } from './EngineStore.ts';
import type { Visit } from './visit.ts';

/** What code inside a node can reach of its own execution. */
export interface ActiveVisit {
  readonly visit: Visit;
  readonly taskId: string | null;
  /** `null` in plain LangGraph use without a state file: steps then run unrecorded. */
  readonly store: EngineStore | null;
  readonly events: EventBus;
  /** True when an earlier execution of this visit began a step and did not get to the end. */
  readonly isResumed: boolean;
  readonly stepNames: Set<string>;
  /** Set by `progress()`. */
  progressed: boolean;
}

const storage = new AsyncLocalStorage<ActiveVisit>();

export function runInVisit<T>(active: ActiveVisit, work: () => T): T {
  return storage.run(active, work);
}

/** @throws TypeError outside a node of a durable graph. */
export function activeVisit(caller: string): ActiveVisit {
  const active = storage.getStore();
  if (active !== undefined) return active;
  throw new TypeError(`${caller} must be called inside a node of a graph wrapped by durable().`);
}
