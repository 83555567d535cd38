import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { BUSY_TIMEOUT_MS } from '../config/defaults.ts';
import { isDevsError } from '../errors/DevsError.ts';

// A file that others write is a wait, not a fault. SQLite's own wait is not fair: the longer somebody waits, the more seldom it
// looks (in the end every 100 ms), so that of many writers one may never come in. Here it ends early and begins anew, with a
// pause by chance between.
//
// Invariant: what was refused as busy had no effect; it is done again as a whole.

/** How long SQLite waits for itself, ms: by then it looks every 50 ms. */
export const NATIVE_BUSY_MS = 250;

/** Milliseconds; less, and two busy processes meet as errors. */
export const MIN_BUSY_TIMEOUT_MS = 5_000;

/** Pause before a refused statement is tried anew, ms at most. */
const PAUSE_MS = 20;

const limits = new WeakMap<Database, number>();

/** Connections in whose work {@link whenFree} waits, with the event loop turning. */
const yielding = new WeakSet<Database>();

/** @param ms - How long a statement of this connection waits for others. */
export function setBusyTimeout(db: Database, ms: number): void {
  limits.set(db, ms);
}

const limitOf = (db: Database): number => limits.get(db) ?? BUSY_TIMEOUT_MS;

/** Whether somebody else has the file; false for a transaction whose snapshot is old, which waiting does not mend. */
export function isBusy(error: unknown): boolean {
  const code = isDevsError(error)
    ? error.context['sqlite']
    : (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY') && code !== 'SQLITE_BUSY_SNAPSHOT';
}

/**
 * A statement that met `refusal`, done again until the file is free.
 *
 * @param isRefused - Whether it was refused as busy, and has had no effect.
 * @throws `refusal` where it is none that waiting mends; DevsError `STATE_IO` after the time of the connection.
 */
export function afterBusy<T>(
  db: Database,
  refusal: unknown,
  statement: () => T,
  isRefused: (error: unknown) => boolean = isBusy,
): T {
  // Whoever opened the connection so wants to be told at once.
  if (isRefused(refusal) && db.pragma('busy_timeout', { simple: true }) === 0) throw refusal;
  let error = refusal;
  const until = performance.now() + limitOf(db);
  while (isRefused(error) && !yielding.has(db) && performance.now() < until) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * PAUSE_MS);
    try {
      return statement();
    } catch (again) {
      error = again;
    }
  }
  throw error;
}

/** How long is waited, and until when. */
export interface BusyWait {
  /** Milliseconds. @defaultValue the time of the connection */
  readonly forMs?: number;
  /** Aborting it ends the wait. */
  readonly signal?: AbortSignal;
}

/**
 * Does synchronous `work` once the file is free; the event loop turns while it waits. Within a transaction it is done at once.
 *
 * @throws DevsError `STATE_IO` if the file stays busy; what `work` throws.
 */
export async function whenFree<T>(db: Database, work: () => T, wait: BusyWait = {}): Promise<T> {
  if (db.inTransaction) return work();
  const until = performance.now() + (wait.forMs ?? limitOf(db));
  for (;;) {
    try {
      yielding.add(db);
      return work();
    } catch (error) {
      const isOver = performance.now() >= until || wait.signal?.aborted === true;
      if (isOver || !isBusy(error)) throw error;
    } finally {
      yielding.delete(db);
    }
    await sleep(Math.random() * PAUSE_MS);
  }
}
