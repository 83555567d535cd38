import type { Lease } from '../../state/threads/ThreadStore.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import type { EngineStore } from '../EngineStore.ts';
import { type Goal, type GoalReader, recordedGoal } from '../graph/GraphProfile.ts';

interface RunGoalDeps {
  readonly lease: Lease;
  readonly store: EngineStore;
  readonly reader: GoalReader;
  /** What this drive was asked for; without one the recorded goal holds. */
  readonly wanted: Goal | undefined;
}

/**
 * The goal of one drive. It is part of the run's record until it is reached, so that a driver that takes over stops
 * where the one before would have.
 */
export class RunGoal {
  readonly #deps: RunGoalDeps;

  constructor(deps: RunGoalDeps) {
    this.#deps = deps;
  }

  /** Nodes after which LangGraph returns to the driver. */
  get nodes(): readonly string[] {
    return this.#current() === null && !this.isNew ? [] : this.#deps.reader.nodes;
  }

  /** True while the goal of this drive is not the recorded one. */
  get isNew(): boolean {
    const { wanted } = this.#deps;
    return wanted !== undefined && canonicalJson(wanted) !== canonicalJson(this.#current());
  }

  /** Puts the goal of this drive in the record. */
  takeUp(): void {
    const { wanted, reader } = this.#deps;
    if (wanted === undefined || !this.isNew) return;
    const payload = { goal: reader.words(wanted) };
    this.#deps.store.runs.goal(this.#deps.lease, wanted, [{ name: 'GOAL_SET', payload, scope: this.#scope }]);
  }

  /** What `values` have reached, in words. */
  reached(values: unknown): string | null {
    const goal = this.#current();
    return goal === null ? null : this.#deps.reader.reached(values, goal);
  }

  /** Removes the goal from the record, as the run is stopped at it. */
  forget(reason: string): void {
    const { store, lease, reader } = this.#deps;
    const goal = this.#current();
    if (goal === null) return;
    const payload = { goal: reader.words(goal), reason };
    store.runs.goal(lease, null, [{ name: 'GOAL_REACHED', payload, scope: this.#scope }]);
  }

  get #scope() {
    return { threadId: this.#deps.lease.threadId };
  }

  #current(): Goal | null {
    return recordedGoal(this.#deps.store.runs, this.#deps.lease.threadId);
  }
}
