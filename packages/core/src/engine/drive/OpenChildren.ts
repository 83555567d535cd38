import { isDevsError } from '../../errors/DevsError.ts';
import type { Wait } from '../../state/WaitStore.ts';
import { currentDrive } from '../driveContext.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { ChildDrive } from '../waits/children.ts';
import { canContinue } from './canContinue.ts';
import { dueCriteria } from './dueCriteria.ts';

/** `anew`: its nodes have to run again, to say which apps its children are of. `idle`: nothing is to be done now. */
export type ChildrenDriven = 'driven' | 'anew' | 'idle';

/**
 * The children that one drive of a run waits for: it drives each once, and again for what came since. Another process that
 * drives one of them is left to it.
 */
export class OpenChildren {
  readonly #store: EngineStore;
  readonly #how: ChildDrive;
  readonly #driven = new Set<string>();

  constructor(store: EngineStore, how: ChildDrive) {
    this.#store = store;
    this.#how = how;
  }

  /** @throws What a drive of a child throws, once the others have been left. */
  async drive(pending: readonly Wait[]): Promise<ChildrenDriven> {
    const ids = [
      ...new Set(pending.flatMap(({ purpose, subject }) => (purpose === 'child' ? (subject ?? []) : []))),
    ];
    if (ids.length === 0) return 'idle';
    const apps = currentDrive()?.childApps;
    const due = ids.filter((id) => this.#isDue(id));
    if (due.some((id) => apps?.has(id) !== true)) return 'anew';
    const ended = await Promise.allSettled(due.map((id) => this.#driveOne(id)));
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return due.length > 0 ? 'driven' : 'idle';
  }

  #isDue(id: string): boolean {
    const { threads, now } = this.#store;
    if (!this.#driven.has(id)) {
      return canContinue(id, dueCriteria(now(), this.#how.now), this.#store);
    }
    const { wakeSeq, handledSeq } = threads.require(id);
    return wakeSeq > handledSeq && threads.driverOf(id) === null;
  }

  async #driveOne(id: string): Promise<void> {
    const { now, ...how } = this.#how;
    const isFirst = !this.#driven.has(id);
    this.#driven.add(id);
    try {
      await currentDrive()
        ?.childApps.get(id)
        ?.drive(id, { ...how, ...(isFirst && now !== undefined && { now }) });
    } catch (error) {
      if (!isDevsError(error, 'THREAD_BUSY') && !isDevsError(error, 'LEASE_LOST')) throw error;
    }
  }
}
