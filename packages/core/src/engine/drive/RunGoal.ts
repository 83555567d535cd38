import type { Lease } from '../../state/threads/threadRecords.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import { type Goal, recordedGoal } from '../graph/NodeEngine.ts';
import type { Engine } from './Engine.ts';

/**
 * The goal of one drive. It is part of the run's record until it is reached, so that a driver that takes over stops
 * where the one before would have.
 */
export class RunGoal {
  readonly #lease: Lease;
  readonly #wanted: Goal | undefined;
  readonly #engine: Pick<Engine, 'goals' | 'store'>;

  /** @param wanted - What this drive was asked for; without one the recorded goal holds. */
  constructor(lease: Lease, wanted: Goal | undefined, engine: Pick<Engine, 'goals' | 'store'>) {
    this.#lease = lease;
    this.#wanted = wanted;
    this.#engine = engine;
  }

  /** Nodes after which LangGraph returns to the driver. */
  get nodes(): readonly string[] {
    return this.#current() === null && !this.isNew ? [] : this.#engine.goals.nodes;
  }

  /** Whether it executes to its end. */
  get isEnd(): boolean {
    return this.#wanted === undefined && this.#current() === null;
  }

  /** True while the goal of this drive is not the recorded one. */
  get isNew(): boolean {
    const wanted = this.#wanted;
    return wanted !== undefined && canonicalJson(wanted) !== canonicalJson(this.#current());
  }

  /** Puts the goal of this drive in the record. */
  takeUp(): void {
    const wanted = this.#wanted;
    const { goals, store } = this.#engine;
    if (wanted === undefined || !this.isNew) return;
    const payload = { goal: goals.words(wanted) };
    store.runs.goal(this.#lease, wanted, [{ name: 'GOAL_SET', payload, scope: this.#scope }]);
  }

  /** What `values` have reached, in words. */
  reached(values: unknown): string | null {
    const goal = this.#current();
    return goal === null ? null : this.#engine.goals.reached(values, goal);
  }

  /** Removes the goal from the record, as the run is stopped at it. */
  forget(reason: string): void {
    const { store, goals } = this.#engine;
    const goal = this.#current();
    if (goal === null) return;
    const payload = { goal: goals.words(goal), reason };
    store.runs.goal(this.#lease, null, [{ name: 'GOAL_REACHED', payload, scope: this.#scope }]);
  }

  get #scope() {
    return { threadId: this.#lease.threadId };
  }

  #current(): Goal | null {
    return recordedGoal(this.#engine.store.runs, this.#lease.threadId);
  }
}
