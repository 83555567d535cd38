// When a run can go on without a human: it is due, a run below it can go on, or something has woken it.

import { FileNews, LOOK_EVERY_MS } from '../../db/FileWatch.ts';
import { assertSameFile } from '../../db/fileIdentity.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { LEASE_TTL_MS } from '../../state/threads/ThreadStore.ts';
import { hasEnded } from '../../state/threads/threadRecords.ts';
import type { DueCriteria, Wait } from '../../state/threads/WaitStore.ts';
import { currentDrive } from '../execution/driveContext.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { type ChildDrive, childAppsOf } from '../waits/children.ts';
import { isOver } from './RunResult.ts';

/** Why a run is left whose process was told to stop; nobody has said anything about the run. */
export const ASKED_TO_STOP = 'asked to stop';

/** Reason of a run that its caller has aborted: it goes on when it is resumed. */
export const ABORTED = 'aborted';

/** Reason of a child run that was stopped with its parent, and goes on with it. */
export const STOPPED_WITH_PARENT = 'stopped with its parent';

/**
 * What makes a run due now. Who records a run drives it at once, as a rule: it is left to them as long as a lease is to who
 * holds it.
 *
 * @param clock - Now, in milliseconds since the Unix epoch.
 * @param at - What runs wait for and is due by then has come. @defaultValue `clock`
 */
export const dueCriteria = (clock: number, at: number = clock): DueCriteria => ({
  now: at,
  leftFor: ASKED_TO_STOP,
  begunBy: clock - LEASE_TTL_MS,
  takesWoken: 0,
});

/** The same for a worker: a run that was decided, signalled or started for it is due at once. */
export const workCriteria = (clock: number): DueCriteria => ({ ...dueCriteria(clock), takesWoken: 1 });

/** Whether driving a run whose child this is leads anywhere: the child has ended, or can go on and nobody drives it. */
function canContinue(childId: string, since: DueCriteria, store: EngineStore): boolean {
  const { threads, waits } = store;
  const { status, reason, wakeSeq, handledSeq } = threads.require(childId);
  if (hasEnded(status)) return true;
  if (threads.driverOf(childId) !== null) return false;
  if (status === 'paused') return reason === ASKED_TO_STOP || reason === STOPPED_WITH_PARENT;
  if (status !== 'waiting') return true;
  return wakeSeq > handledSeq || waits.isDue(childId, since) || hasContinuableChild(childId, since, store);
}

/** Whether one of the runs that a run waits for can go on. */
export const hasContinuableChild = (parentId: string, since: DueCriteria, store: EngineStore): boolean =>
  store.children.awaitedBy(parentId).some((id) => canContinue(id, since, store));

/** `anew`: its nodes have to run again, to say which apps its children are of. `idle`: nothing is to be done now. */
type ChildrenDriven = 'driven' | 'anew' | 'idle';

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
    const apps = childAppsOf(currentDrive());
    const due = ids.filter((id) => this.#isDue(id));
    if (due.some((id) => !apps.has(id))) return 'anew';
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
      await childAppsOf(currentDrive())
        .get(id)
        ?.drive(id, { ...how, ...(isFirst && now !== undefined && { now }) });
    } catch (error) {
      if (!isDevsError(error, 'THREAD_BUSY') && !isDevsError(error, 'LEASE_LOST')) throw error;
    }
  }
}

/** A run that is waited for. */
interface WakeTarget {
  readonly threadId: string;
  /** When its first timer is due, in milliseconds since the Unix epoch. */
  readonly until?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether what is waited for has ended otherwise. @defaultValue no */
  readonly isOver?: (() => boolean) | undefined;
}

/**
 * Returns true once a signal came in that no driver has handled and none is about to, once the run is due, or once another
 * driver has brought it to its end; false once `signal` was aborted. No lease is held meanwhile.
 *
 * @throws DevsError `STATE_REPLACED` if the file is not the one at its path any more: nobody's decision would be in it.
 */
export async function waitUntilWoken(store: EngineStore, awaiting: WakeTarget): Promise<boolean> {
  const { until = Number.POSITIVE_INFINITY, signal } = awaiting;
  const news = new FileNews(store.db);
  try {
    while (signal?.aborted !== true) {
      if (hasWoken(store, { ...awaiting, until })) return true;
      const left = until - store.now();
      await news.next(left > 0 ? Math.min(left, LOOK_EVERY_MS) : LOOK_EVERY_MS, signal);
    }
    return false;
  } finally {
    news.stop();
  }
}

function hasWoken(
  store: EngineStore,
  { threadId, until, isOver: isTurnOver }: WakeTarget & { readonly until: number },
): boolean {
  const { threads, now } = store;
  assertSameFile(store.db);
  if (isTurnOver?.() === true) return true;
  const { wakeSeq, handledSeq, status } = threads.signals.wakesOf(threadId);
  if (isOver(status)) return true;
  const hasCome = (): boolean =>
    until <= now() || wakeSeq > handledSeq || hasContinuableChild(threadId, dueCriteria(now()), store);
  return threads.driverOf(threadId) === null && hasCome();
}
