import type { EventBus } from '../../events/EventBus.ts';
import { afterArrival } from '../../state/Outlet.ts';
import type { GraphShape } from '../compile/graphShape.ts';
import { outsideGraphs } from '../drive/outsideGraphs.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { Principal } from '../gates/HumanInTheLoopManager.ts';
import type { SqliteSaver } from '../saver/SqliteSaver.ts';
import { type Deleted, deleteExpired, deleteRun, type Expiry } from './deleteRuns.ts';
import { type Fork, type Forked, forkRun } from './forkRun.ts';
import { type GatePage, inbox } from './inbox.ts';
import { listRuns, type RunFilter, type RunPage } from './listRuns.ts';
import type { PageRequest } from './pages.ts';
import {
  type HistoryOptions,
  type RunSnapshot,
  readHistory,
  readSnapshot,
  type SnapshotGraph,
  type SnapshotOptions,
} from './snapshots.ts';
import { type StateUpdate, type UpdateDeps, updateRun } from './updateRun.ts';

/** What of an app its runs are managed with. */
export interface ManagedRunsParts {
  /** Compiled. */
  readonly graph: unknown;
  readonly shape: GraphShape;
  readonly store: EngineStore;
  readonly saver: SqliteSaver;
  readonly events: EventBus;
}

interface Deps<State> extends ManagedRunsParts {
  readonly graph: SnapshotGraph<State> & UpdateDeps['graph'];
}

/** Runs from outside: found, read at any time of theirs, forked, changed by a human, deleted. Drives none. */
export class ManagedRuns<State, Update> {
  readonly #deps: Deps<State>;

  constructor(parts: ManagedRunsParts) {
    this.#deps = parts as Deps<State>;
  }

  /**
   * A run's state as LangGraph tells it: values, what comes next, tasks and their questions; with `subgraphs`, those of
   * the graphs inside nodes, too.
   *
   * @throws DevsError `THREAD_NOT_FOUND`, `CHECKPOINT_NOT_FOUND`.
   */
  async getState(id: string, options: SnapshotOptions = {}): Promise<RunSnapshot<State>> {
    return outsideGraphs(() => readSnapshot(id, options, this.#deps));
  }

  /**
   * What a run was at its checkpoints, newest first, 100 unless told otherwise; pruned ones are gone.
   *
   * @throws DevsError `THREAD_NOT_FOUND`; `CHECKPOINT_NOT_FOUND` for a `before` that is none of the run's.
   *
   * @example
   * ```ts
   * const [last] = await app.getStateHistory('post-42', { limit: 1 });
   * const earlier = await app.getStateHistory('post-42', { before: last.config });
   * ```
   */
  async getStateHistory(id: string, options: HistoryOptions = {}): Promise<readonly RunSnapshot<State>[]> {
    return outsideGraphs(() => readHistory(id, options, this.#deps));
  }

  /**
   * Runs of the state file, newest first, page by page: a run that matches all the while is on exactly one page.
   *
   * @throws RangeError for a filter, `limit` or `after` that is none.
   *
   * @example
   * ```ts
   * const { runs, next } = await app.list({ status: ['running', 'waiting'], graph: app.fingerprint, limit: 20 });
   * ```
   */
  async list(filter: RunFilter = {}): Promise<RunPage> {
    return listRuns(filter, this.#deps.store);
  }

  /** The inbox: open questions of every run in the state file, oldest first, page by page. @throws RangeError */
  async openGates(page: PageRequest = {}): Promise<GatePage> {
    return inbox(page, this.#deps.store.sessions);
  }

  /**
   * Begins the run `as` where another one stood at a checkpoint. The old one is only read. What lies before is in the
   * state and is not paid for again; what follows is done anew, whatever the old run has recorded of it. Who did it is an
   * event of the new run, `RUN_FORKED`. Drives nothing.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a human may; `THREAD_NOT_FOUND`,
   *   `CHECKPOINT_NOT_FOUND`, `GRAPH_CHANGED`, `THREAD_EXISTS`, `THREAD_NOT_OURS`; `WORKSPACE_BUSY` for a run with a
   *   folder. Nothing is written then.
   *
   * @example
   * ```ts
   * await app.fork('post-42', { as: 'post-42b', checkpointId, by: { kind: 'human', id: 'ada' } });
   * await app.run('post-42b');
   * ```
   */
  async fork(id: string, fork: Fork): Promise<Forked> {
    return this.#afterArrival(outsideGraphs(() => forkRun(id, fork, this.#deps)));
  }

  /**
   * LangGraph's `updateState` between two visits of a run: writes values as if `asNode` had returned them. Masked; open
   * questions are withdrawn and asked anew; who did it is an event, `STATE_UPDATED`. Drives nothing.
   *
   * @returns The config of the new checkpoint.
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a human may; `UPDATE_REFUSED` with a `reason` in
   *   its context; `THREAD_BUSY`, `THREAD_NOT_FOUND`, `GRAPH_CHANGED`, `VALUE_NOT_STORABLE`. The run is untouched then.
   * @throws TypeError for a channel or a node that the graph does not have.
   */
  async updateState(
    id: string,
    values: Partial<Update> | null,
    update: StateUpdate,
  ): Promise<{ readonly configurable?: Readonly<Record<string, unknown>> }> {
    return this.#afterArrival(outsideGraphs(() => updateRun(id, values, update, this.#deps)));
  }

  /**
   * Deletes a run that has ended, in one transaction: all of it but the lines of the decision log, which are a chain.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a human may; `REMOVE_REFUSED` for a run that has
   *   not ended, or has a folder; `THREAD_BUSY`, `THREAD_NOT_FOUND`. Nothing is deleted then.
   */
  async delete(id: string, { by }: { readonly by: Principal }): Promise<Deleted> {
    return this.#afterArrival(deleteRun(id, by, this.#deps));
  }

  /**
   * Deletes runs of every graph in the file that ended before a time, longest ago first, a few in each transaction: a
   * process that dies in between is gone on with by the next call. Left are runs that somebody holds, or with a folder.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a human may; RangeError.
   *
   * @example
   * ```ts
   * const aMonthAgo = new Date(Date.now() - 30 * 86_400_000);
   * await app.deleteOlderThan({ endedBefore: aMonthAgo, limit: 1000, by: { kind: 'human', id: 'ops' } });
   * ```
   */
  async deleteOlderThan(expiry: Expiry): Promise<Deleted> {
    return this.#afterArrival(deleteExpired(expiry, this.#deps));
  }

  #afterArrival<T>(done: T | Promise<T>): Promise<T> {
    return afterArrival(this.#deps.store.outlet, done);
  }
}
