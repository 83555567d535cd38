import type { Database } from 'better-sqlite3';
import { type Part, partsOf } from '../db/transaction.ts';
import type { FencedLease } from './Fence.ts';

/** Remembers the lease under which something was done last, unless its transaction was undone. */
export class OnceUnderLease {
  readonly #db: Database;
  #done: (FencedLease & { readonly parts: readonly Part[] }) | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Does it, in the caller's transaction. */
  doing({ threadId, epoch }: FencedLease, work: () => unknown): void {
    work();
    const parts = partsOf(this.#db);
    this.#done = parts === null ? null : { threadId, epoch, parts };
  }

  isDone({ threadId, epoch }: FencedLease): boolean {
    const done = this.#done;
    if (done?.threadId !== threadId || done.epoch !== epoch) return false;
    return done.parts.every(({ isUndone }) => !isUndone);
  }
}
