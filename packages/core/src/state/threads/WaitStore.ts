import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { useSeals } from '../rows/rowSeals.ts';
import type { StoreOptions } from '../rows/StoreOptions.ts';
import * as sql from './waitSql.ts';

/** What a wait is for. The table takes any word; this list is what the engine knows. */
export const WAIT_PURPOSES = ['sleep', 'signal', 'deadline', 'child'] as const;

export type WaitPurpose = (typeof WAIT_PURPOSES)[number];

/** Which wait of a run: the same in every execution of its node. */
export interface WaitKey {
  readonly threadId: string;
  /** LangGraph's task id, with the place inside the visit; of a deadline, the session of its gate. */
  readonly place: string;
  readonly name: string;
}

export interface NewWait extends WaitKey {
  readonly purpose: WaitPurpose;
  /** What comes, by its name, or a run by its id; `null` where only time can pass. */
  readonly subject: string | null;
  /** Of the question that LangGraph is left with. */
  readonly interruptId: string;
  /** Milliseconds since the Unix epoch; `null`: never by itself. */
  readonly dueAt: number | null;
}

export interface Wait extends NewWait {
  /** The order in which waits began. */
  readonly seq: number;
  /** `due`: its time came first. `met`: what it waits for did. `void`: nobody waits any more. */
  readonly state: 'pending' | 'due' | 'met' | 'void';
  /** The row that came. */
  readonly metBy: string | null;
}

/** The visit whose waits another one takes over. */
export interface MovedWaits {
  readonly threadId: string;
  readonly visitId: string;
  readonly toVisitId: string;
}

/** What makes a run due. */
export interface DueCriteria {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Why a run is paused that only its driver's process was told to leave. */
  readonly leftFor: string;
  /** Who has recorded a run or turn by then, in milliseconds since the Unix epoch, is not about to drive it any more. */
  readonly begunBy: number;
}

/**
 * What runs wait for that is no human. A row is pending until its time or what it waits for came, whichever is first:
 * one conditional update ends it, and nothing changes it afterwards.
 */
export class WaitStore {
  readonly #now: () => number;
  readonly #db: Database;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now }: StoreOptions = {}) {
    this.#db = db;
    this.#now = now;
    useSeals(db);
  }

  /** Records a wait; one that is known keeps the date of its first time. In the caller's transaction. */
  begin(wait: NewWait): Wait {
    if (!WAIT_PURPOSES.includes(wait.purpose))
      throw new RangeError(`purpose: unknown purpose "${wait.purpose}"`);
    prepare<[object]>(this.#db, sql.INSERT).run({ ...wait, now: this.#now() });
    return this.find(wait) as Wait;
  }

  find({ threadId, place, name }: WaitKey): Wait | null {
    return prepare<[object], Wait>(this.#db, sql.SELECT).get({ threadId, place, name }) ?? null;
  }

  /** The waits that a run's open interrupts stand for. */
  at(threadId: string, interruptIds: readonly string[]): readonly Wait[] {
    return prepare<[object], Wait>(this.#db, sql.SELECT_AT).all({
      threadId,
      interruptIds: JSON.stringify(interruptIds),
    });
  }

  /** The deadlines of gates, ended or not, the earliest first. @param gates - Ids of sessions. */
  deadlines(threadId: string, gates: readonly string[]): readonly Wait[] {
    return prepare<[object], Wait>(this.#db, sql.SELECT_DEADLINES).all({
      threadId,
      gates: JSON.stringify(gates),
    });
  }

  /** Ends a wait whose time has come: true for exactly one caller. @param at - Milliseconds since the Unix epoch. */
  fire({ seq }: Pick<Wait, 'seq'>, at: number): boolean {
    return prepare<[object]>(this.#db, sql.FIRE).run({ seq, at, now: this.#now() }).changes === 1;
  }

  /** Ends a wait with what came: true for exactly one caller. */
  meet({ seq }: Pick<Wait, 'seq'>, metBy: string): boolean {
    return prepare<[object]>(this.#db, sql.MEET).run({ seq, metBy, now: this.#now() }).changes === 1;
  }

  /** Gives up the pending waits of a run's nodes but those of these interrupts: nobody comes back to the others. */
  keepOnly(threadId: string, interruptIds: readonly string[]): void {
    prepare<[object]>(this.#db, sql.KEEP_ONLY).run({
      threadId,
      interruptIds: JSON.stringify(interruptIds),
      now: this.#now(),
    });
  }

  /** Hands the waits of a visit to the one that takes its place. */
  moveVisit(moved: MovedWaits): void {
    prepare<[object]>(this.#db, sql.MOVE_VISIT).run(moved);
  }

  /** Runs that can go on without a human, those whose time came first in front. */
  dueRuns(since: DueCriteria): readonly string[] {
    return prepare<[object], { readonly threadId: string }>(this.#db, sql.SELECT_DUE)
      .all(since)
      .map(({ threadId }) => threadId);
  }

  /** Whether a run is among {@link dueRuns}. */
  isDue(threadId: string, since: DueCriteria): boolean {
    return prepare<[object]>(this.#db, sql.SELECT_IS_DUE).get({ ...since, threadId }) !== undefined;
  }
}
