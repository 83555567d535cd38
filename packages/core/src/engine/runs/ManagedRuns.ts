import { afterBarrier } from '../../state/commits/CommitBarrier.ts';
import { type StateUpdate, updateRun } from '../change/updateRun.ts';
import type { Engine } from '../drive/Engine.ts';
import { outsideGraphs } from '../drive/graphCall.ts';
import type { Principal } from '../gates/HumanInTheLoopManager.ts';
import type { RunSnapshot } from '../graph/EngineGraph.ts';
import { type DeleteFilter, type DeleteResult, deleteExpired, deleteRun } from './deleteRuns.ts';
import { type ForkOptions, type ForkResult, forkRun } from './forkRun.ts';
import { listRuns, type RunFilter, type RunPage } from './listRuns.ts';
import { type GatePage, inbox } from './openGates.ts';
import type { PageRequest } from './pages.ts';
import { type HistoryOptions, readHistory, readSnapshot, type SnapshotOptions } from './snapshots.ts';

/** Operations on recorded runs: list, read at any checkpoint, fork, update, delete. Executes none of them. */
export class ManagedRuns<State, Update> {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Returns LangGraph's snapshot of a run: values, next nodes, tasks and their interrupts; with `subgraphs`, also of
   * subgraphs.
   *
   * @throws DevsError `THREAD_NOT_FOUND`, `CHECKPOINT_NOT_FOUND`.
   */
  async getState(id: string, options: SnapshotOptions = {}): Promise<RunSnapshot<State>> {
    return outsideGraphs(() => readSnapshot(id, options, this.#engine));
  }

  /**
   * Returns snapshots of a run's checkpoints, newest first, 100 by default. Pruned checkpoints are gone.
   *
   * @throws DevsError `THREAD_NOT_FOUND`; `CHECKPOINT_NOT_FOUND` if `before` is not a checkpoint of the run.
   *
   * @example
   * ```ts
   * const [last] = await app.getStateHistory('post-42', { limit: 1 });
   * const earlier = await app.getStateHistory('post-42', { before: last.config });
   * ```
   */
  async getStateHistory(id: string, options: HistoryOptions = {}): Promise<readonly RunSnapshot<State>[]> {
    return outsideGraphs(() => readHistory(id, options, this.#engine));
  }

  /**
   * Lists the runs of the state file, newest first, in pages. A run that matches all the time is on exactly one page.
   *
   * @throws RangeError for an invalid filter, `limit` or `after`.
   *
   * @example
   * ```ts
   * const { runs, next } = await app.list({ status: ['running', 'waiting'], graph: app.fingerprint, limit: 20 });
   * ```
   */
  async list(filter: RunFilter = {}): Promise<RunPage> {
    return listRuns(filter, this.#engine.store);
  }

  /** Lists the open gates of every run in the state file, oldest first, in pages. @throws RangeError for a bad page. */
  async openGates(page: PageRequest = {}): Promise<GatePage> {
    return inbox(page, this.#engine.store.sessions);
  }

  /**
   * Creates the run `as` from a checkpoint of another run, which is only read. Recorded work before the checkpoint is
   * in the state; later steps are made again. Emits `RUN_FORKED` in the new run. Executes nothing.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can fork a run; `THREAD_NOT_FOUND`,
   *   `CHECKPOINT_NOT_FOUND`, `GRAPH_CHANGED`, `THREAD_EXISTS`, `THREAD_NOT_OURS`; `WORKSPACE_BUSY` for a run with a
   *   folder. The state file is unchanged then.
   *
   * @example
   * ```ts
   * await app.fork('post-42', { as: 'post-42b', checkpointId, by: { kind: 'human', id: 'ada' } });
   * await app.run('post-42b');
   * ```
   */
  async fork(id: string, fork: ForkOptions): Promise<ForkResult> {
    return this.#afterArrival(outsideGraphs(() => forkRun(id, fork, this.#engine)));
  }

  /**
   * Writes values into a run's state as if node `asNode` had returned them, like LangGraph's `updateState`. Open gates
   * are withdrawn and asked again. Emits `STATE_UPDATED`. Executes nothing.
   *
   * @returns The config of the new checkpoint.
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can update a run; `UPDATE_REFUSED`
   *   with a `reason` in its context; `THREAD_BUSY`, `THREAD_NOT_FOUND`, `GRAPH_CHANGED`, `VALUE_NOT_STORABLE`. The run
   *   is unchanged then.
   * @throws TypeError for an unknown channel or node.
   */
  async updateState(
    id: string,
    values: Partial<Update> | null,
    update: StateUpdate,
  ): Promise<{ readonly configurable?: Readonly<Record<string, unknown>> }> {
    return this.#afterArrival(outsideGraphs(() => updateRun(id, values, update, this.#engine)));
  }

  /**
   * Deletes a run that has ended, in one transaction. Lines of the decision log stay, because they are a chain.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can delete a run; `REMOVE_REFUSED`
   *   for a run that has not ended or has a folder; `THREAD_BUSY`, `THREAD_NOT_FOUND`. The run is unchanged then.
   */
  async delete(id: string, { by }: { readonly by: Principal }): Promise<DeleteResult> {
    return this.#afterArrival(deleteRun(id, by, this.#engine));
  }

  /**
   * Deletes runs of every graph in the file that ended before a date, oldest end first, a few per transaction. After a
   * crash, the next call continues. Skips runs in use and runs with a folder.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can delete runs; RangeError.
   *
   * @example
   * ```ts
   * const aMonthAgo = new Date(Date.now() - 30 * 86_400_000);
   * await app.deleteOlderThan({ endedBefore: aMonthAgo, limit: 1000, by: { kind: 'human', id: 'ops' } });
   * ```
   */
  async deleteOlderThan(expiry: DeleteFilter): Promise<DeleteResult> {
    return this.#afterArrival(deleteExpired(expiry, this.#engine));
  }

  #afterArrival<T>(done: T | Promise<T>): Promise<T> {
    return afterBarrier(this.#engine.store.outlet, done);
  }
}
