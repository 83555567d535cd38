import type { EventSink } from '../../events/EventBus.ts';
import { canonicalJson } from '../../state/canonicalJson.ts';
import type { Lease } from '../../state/ThreadStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import { type Goal, type GoalReader, recordedGoal } from '../Goal.ts';

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
    this.#write(wanted, (emit) => emit('GOAL_SET', { goal: reader.words(wanted) }, this.#scope));
  }

  /** What `values` have reached, in words. */
  reached(values: unknown): string | null {
    const goal = this.#current();
    return goal === null ? null : this.#deps.reader.reached(values, goal);
  }

  /** Removes the goal from the record when `settle` has stopped the run at it. */
  stopAt(reason: string, settle: () => boolean): boolean {
    const { store } = this.#deps;
    return store.commit((emit) => {
      const goal = this.#current();
      const isSettled = settle();
      if (isSettled && goal !== null) {
        this.#record(null);
        emit('GOAL_REACHED', { goal: this.#deps.reader.words(goal), reason }, this.#scope);
      }
      return isSettled;
    });
  }

  get #scope() {
    return { threadId: this.#deps.lease.threadId };
  }

  #current(): Goal | null {
    return recordedGoal(this.#deps.store.threads, this.#deps.lease.threadId);
  }

  #write(goal: Goal, announce: (emit: EventSink['emit']) => void): void {
    const { store, lease } = this.#deps;
    store.commit((emit) => {
      store.threads.fence(lease).assertInTx();
      this.#record(goal);
      announce(emit);
    });
  }

  #record(goal: Goal | null): void {
    const { threads } = this.#deps.store;
    const { threadId, policies } = threads.require(this.#deps.lease.threadId);
    const { goal: _before, ...rest } = policies;
    threads.updatePolicies(threadId, goal === null ? rest : { ...rest, goal });
  }
}
