import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunnableConfig } from '@langchain/core/runnables';
import type { GraphInterrupt } from '@langchain/langgraph';
import type { EventBus } from '../../events/EventBus.ts';
import type { VisitStore } from '../../state/RunStore.ts';
import type { VisitActivities } from '../activity/VisitActivities.ts';
import { driving } from '../driving.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { Visit } from '../visit.ts';
import type { InnerRuns } from './innerRuns.ts';
import type { VisitWaits } from './VisitWaits.ts';

/** What code inside a node can reach of its own execution. */
export interface ActiveVisit {
  readonly visit: Visit;
  readonly taskId: string | null;
  readonly runs: VisitStore;
  /** `null` in plain LangGraph use without a state file: steps then run unrecorded. */
  readonly store: EngineStore | null;
  readonly events: EventBus;
  /** True when an earlier execution of this visit began a step and did not get to the end. */
  readonly isResumed: boolean;
  /** `place/name` of every step of this execution. */
  readonly stepNames: Set<string>;
  /** Ids of the tool calls that this execution has begun. */
  readonly toolCalls: Set<string>;
  readonly calls: CallsInFlight;
  readonly told: VisitActivities;
  readonly inner: InnerRuns;
  readonly waits: VisitWaits;
  /** What is asked before a call is made: the node leaves with it, even if it caught it. */
  question: GraphInterrupt | null;
  /** Set once the node has thrown: what it began side by side may end, and begins no further calls. */
  hasThrown: boolean;
  /** What the engine could not do for a step: the node leaves with it, even if it caught it. */
  fault: Error | null;
  /** Set by `progress()`. */
  progressed: boolean;
}

/** A visit whose steps are recorded. */
export type RecordedVisit = ActiveVisit & { readonly store: EngineStore };

export function isRecorded(active: ActiveVisit): active is RecordedVisit {
  return active.store !== null;
}

const storage = new AsyncLocalStorage<ActiveVisit>();

export function runInVisit<T>(active: ActiveVisit, work: () => T): T {
  return storage.run(active, work);
}

/** Does `work` that is none of the visit around this code. */
export function outsideVisit<T>(work: () => T): T {
  return storage.run(undefined as unknown as ActiveVisit, work);
}

/** @throws TypeError outside a node of a durable graph. */
export function activeVisit(caller: string): ActiveVisit {
  const active = storage.getStore();
  if (active !== undefined) return active;
  throw new TypeError(`${caller} must be called inside a node of a graph wrapped by durable().`);
}

/** The execution of a node that this code is in; `null` outside one. */
export const visitHere = (): ActiveVisit | null => storage.getStore() ?? null;

/** Whether this code is in no run at all: a unit test of a node, or plain LangGraph use. */
export const isAlone = (): boolean => storage.getStore() === undefined && driving() === null;

/** The rows of the run whose node this is; `null` outside one, and without a state file. */
export function visitStore(): { readonly store: EngineStore; readonly threadId: string } | null {
  const active = storage.getStore();
  if (active === undefined || active.store === null) return null;
  return { store: active.store, threadId: active.visit.threadId };
}

/** LangGraph looks for the checkpoint of a graph that begins; outside a visit nobody wants to know. */
export function noteBegun(config: RunnableConfig): void {
  storage.getStore()?.inner.begins(config);
}

/**
 * Marks progress: the depth guard starts counting anew when the surrounding node has finished (law L7). Does nothing outside
 * `durable()`, such as in a unit test of a node.
 *
 * @throws TypeError in a driven run outside its nodes, such as in an edge.
 */
export function progress(): void {
  if (!isAlone()) activeVisit('progress()').progressed = true;
}

/** Set inside a call: one that waited for the calls in flight would wait for itself. */
const inside = new AsyncLocalStorage<true>();

/** The calls of one visit of a node that have begun and not ended. */
export class CallsInFlight {
  readonly #calls = new Set<Promise<void>>();

  /** Whether this code runs inside one of them. */
  get isInside(): boolean {
    return inside.getStore() === true;
  }

  track<T>(call: () => Promise<T>): Promise<T> {
    const running = inside.run(true, call);
    const forget = (): void => {
      this.#calls.delete(ended);
    };
    const ended: Promise<void> = running.then(forget, forget);
    this.#calls.add(ended);
    return running;
  }

  /** Resolves when one of them has ended; `null` when there is none to wait for. */
  next(): Promise<void> | null {
    return this.#calls.size === 0 || this.isInside ? null : Promise.race(this.#calls);
  }

  /** Resolves when all have ended, however they did. */
  async settled(): Promise<void> {
    while (this.#calls.size > 0) await Promise.all(this.#calls);
  }
}
