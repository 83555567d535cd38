import type { AppPlan, OpenedApp } from '../AppPlan.ts';
import type { DurableApp } from '../DurableApp.ts';
import type { DurableParts } from '../DurableParts.ts';
import type { DriveOptions } from '../drive/drive.ts';
import { isOver } from '../drive/outcome.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { HeldRun } from '../runs/Runs.ts';
import { takeSignals } from './takeSignals.ts';

/** How a drive is called that hears what comes in meanwhile. */
export type ToldDrive = Required<Pick<DriveOptions, 'prepare' | 'abort'>>;

/** An app over the file of a held run, which takes what the run is told. */
export class HeldApp<Graph, State, Update> implements OpenedApp<Graph, State, Update> {
  readonly held: HeldRun;
  readonly app: DurableApp<Graph, State, Update>;
  readonly parts: DurableParts<Graph>;

  constructor(held: HeldRun, plan: AppPlan<Graph, State, Update>) {
    const { app, parts } = plan.open({ db: held.db, outlet: held.outlet });
    this.held = held;
    this.app = app;
    this.parts = parts;
    if (held.isCopy) evictAll(app.store);
  }

  /** Writes into the file what the run was told and has not taken. */
  readonly take = async (): Promise<void> => {
    await takeSignals(this.held.id, await this.held.signals(), this.parts);
  };

  /**
   * Drives the run; what it is told meanwhile is written into its file at once, so that it stops or goes on as it would if
   * that had been written there by whoever says it.
   *
   * @param abort - Ends calls in flight, as does losing the run.
   * @throws What the drive throws; what was told and cannot be written, since the run must not be settled then.
   */
  async drive<T>(drive: (how: ToldDrive) => Promise<T>, abort?: AbortSignal): Promise<T> {
    const { held } = this;
    await this.#takeBefore();
    let taking = Promise.resolve();
    let forget = (): void => {};
    const takeNext = (): void => {
      taking = taking.then(this.take);
      taking.catch(() => undefined); // it is thrown below
    };
    const prepare = async (): Promise<void> => {
      forget = held.onSignal(takeNext);
      takeNext();
      await taking;
    };
    try {
      const driven = await drive({
        prepare,
        abort: AbortSignal.any([held.lost, ...(abort === undefined ? [] : [abort])]),
      });
      forget();
      await taking;
      return driven;
    } finally {
      forget();
      await taking.catch(() => undefined);
    }
  }

  /**
   * A pause that nothing has followed is for the drive that begins, which would overtake one that was there before: it is
   * taken under its lease. What else the run was told is there before.
   */
  async #takeBefore(): Promise<void> {
    const { held, app, parts } = this;
    const told = await held.signals();
    const isDone = isOver(app.store.threads.require(held.id).status);
    const isLast = told.findLastIndex(({ kind }) => kind !== 'pause') + 1;
    await takeSignals(held.id, told.slice(0, isDone ? told.length : isLast), parts);
  }
}

/** Whoever has a lease in a file that was handed out is gone. */
function evictAll({ threads, runs }: EngineStore): void {
  for (const { threadId, leaseOwner } of threads.list()) if (leaseOwner !== null) runs.evict(threadId);
}
