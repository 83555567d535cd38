import type { AppFactory } from '../AppFactory.ts';
import type { DriveOptions } from '../drive/drive.ts';
import { isOver } from '../drive/outcome.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { FileApp } from '../FileApp.ts';
import type { LeasedRun, RunSignal } from '../runs/Runs.ts';
import { applySignals } from './applySignals.ts';

/** How a drive is called that hears what comes in meanwhile. */
export type DriveHooks = Required<Pick<DriveOptions, 'prepare' | 'abort'>>;

/** The graph over the file of a held run, which takes what the run is told. */
export class LeasedApp<Graph, State, Update, Output> {
  readonly held: LeasedRun;
  readonly file: FileApp<Graph, State, Update, Output>;
  /** Given out, and not written yet: oldest first. */
  readonly #told: RunSignal[] = [];
  #turn: Promise<void> = Promise.resolve();

  constructor(held: LeasedRun, plan: AppFactory<Graph, State, Update, Output>) {
    this.held = held;
    this.file = plan.open({ db: held.db, outlet: held.outlet });
    if (held.isCopy) expireAllLeases(this.file.store);
  }

  /** Writes into the file what the run was told since. What could not be written is written by the next try. */
  take(): Promise<void> {
    return this.#inTurn(async () => {
      this.#told.push(...(await this.held.signals()));
      await this.#write(this.#told.length);
    });
  }

  /**
   * Drives the run; what it is told meanwhile is written into its file at once, so that it stops or goes on as it would if
   * that had been written there by whoever says it.
   *
   * @param abort - Ends calls in flight, as does losing the run.
   * @throws What the drive throws; what was told and cannot be written, since the run must not be settled then.
   */
  async drive<T>(drive: (how: DriveHooks) => Promise<T>, abort?: AbortSignal): Promise<T> {
    await this.#takeBefore();
    let forget = (): void => {};
    const prepare = async (): Promise<void> => {
      forget = this.held.onSignal(() => void this.take().catch(() => undefined)); // it is tried again below
      await this.take();
    };
    const signals = [this.held.lost, ...(abort === undefined ? [] : [abort])];
    const [driven] = await Promise.allSettled([drive({ prepare, abort: AbortSignal.any(signals) })]);
    forget();
    await this.#turn;
    if (driven.status === 'rejected') throw driven.reason;
    await this.#inTurn(() => this.#write(this.#told.length));
    return driven.value;
  }

  /**
   * A pause that nothing has followed is for the drive that begins, which would overtake one that was there before: it is
   * taken under its lease. What else the run was told is there before.
   */
  #takeBefore(): Promise<void> {
    return this.#inTurn(async () => {
      this.#told.push(...(await this.held.signals()));
      const isDone = isOver(this.file.store.threads.require(this.held.id).status);
      const isLast = this.#told.findLastIndex(({ kind }) => kind !== 'pause') + 1;
      await this.#write(isDone ? this.#told.length : isLast);
    });
  }

  async #write(count: number): Promise<void> {
    for (const signal of this.#told.slice(0, count)) {
      await applySignals(this.held.id, [signal], this.file.engine);
      this.#told.shift();
    }
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

/** Whoever has a lease in a file that was handed out is gone. */
export function expireAllLeases({ threads, runs }: EngineStore): void {
  for (const { threadId, leaseOwner } of threads.list()) if (leaseOwner !== null) runs.evict(threadId);
}
