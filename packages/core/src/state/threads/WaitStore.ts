import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { isSound, resealed, type StoreOptions, sealOf, useSeals, WAIT_SEAL } from '../rows/rows.ts';
import { ENDED_SQL as ENDED } from './threadRecords.ts';

/** What a wait is for. The table takes any word; this list is what the engine knows. */
const WAIT_PURPOSES = ['sleep', 'signal', 'deadline', 'child'] as const;

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
  /** 1 for a worker: runs that were decided, signalled or started for it. 0 leaves them to their callers. */
  readonly takesWoken: 0 | 1;
}

/** A run that is due. */
export interface DueRun {
  readonly threadId: string;
  readonly fingerprint: string;
  /** The app that recorded it, if it had a name. */
  readonly graphName: string | null;
}

/** Selects runs by the app that recorded them: of its name, and unnamed runs except some shapes. */
export interface DueScope {
  readonly graphName: string | null;
  /** Fingerprints, as a JSON list. */
  readonly others: string;
  readonly limit: number;
}

const COLUMNS = `
  seq, thread_id AS threadId, place, name, purpose, subject, interrupt_id AS interruptId, due_at AS dueAt, state,
  met_by AS metBy`;

const NEW = [
  ...['@threadId', '@place', '@name', '@purpose', '@subject', '@interruptId', '@dueAt', "'pending'", 'NULL'],
];

const SOUND = isSound(WAIT_SEAL);

// One that was given up and is come back to goes on with the date it had.
const INSERT = `
  INSERT INTO waits (thread_id, place, name, purpose, subject, interrupt_id, due_at, created_at, row_sha256)
  VALUES (@threadId, @place, @name, @purpose, @subject, @interruptId, @dueAt, @now, ${sealOf(WAIT_SEAL, NEW)})
  ON CONFLICT (thread_id, place, name) DO UPDATE SET
    state = 'pending', ended_at = NULL, row_sha256 = ${resealed(WAIT_SEAL, { state: "'pending'" })}
  WHERE state = 'void'`;

const SELECT = `
  SELECT ${COLUMNS} FROM waits WHERE thread_id = @threadId AND place = @place AND name = @name AND ${SOUND}`;

const SELECT_AT = `
  SELECT ${COLUMNS} FROM waits
  WHERE thread_id = @threadId AND interrupt_id IN (SELECT value FROM json_each(@interruptIds)) AND ${SOUND}
  ORDER BY seq`;

const SELECT_DEADLINES = `
  SELECT ${COLUMNS} FROM waits
  WHERE thread_id = @threadId AND purpose = 'deadline' AND place IN (SELECT value FROM json_each(@gates)) AND ${SOUND}
  ORDER BY due_at, seq`;

const FIRE = `
  UPDATE waits SET state = 'due', ended_at = @now, row_sha256 = ${resealed(WAIT_SEAL, { state: "'due'" })}
  WHERE seq = @seq AND state = 'pending' AND due_at <= @at AND ${SOUND}`;

const MEET = `
  UPDATE waits SET state = 'met', met_by = @metBy, ended_at = @now,
                   row_sha256 = ${resealed(WAIT_SEAL, { state: "'met'", met_by: '@metBy' })}
  WHERE seq = @seq AND state = 'pending' AND ${SOUND}`;

const KEEP_ONLY = `
  UPDATE waits SET state = 'void', ended_at = @now, row_sha256 = ${resealed(WAIT_SEAL, { state: "'void'" })}
  WHERE thread_id = @threadId AND state = 'pending' AND purpose <> 'deadline'
    AND interrupt_id NOT IN (SELECT value FROM json_each(@interruptIds)) AND ${SOUND}`;

const MOVED = '@toVisitId || substr(place, length(@visitId) + 1)';

// A visit's id, or one with a slash behind it.
const MOVE_VISIT = `
  UPDATE waits SET place = ${MOVED}, row_sha256 = ${resealed(WAIT_SEAL, { place: MOVED })}
  WHERE thread_id = @threadId AND (place = @visitId OR substr(place, 1, length(@visitId) + 1) = @visitId || '/')
    AND ${SOUND}`;

/** Of `waits AS w`: that of a gate counts as long as somebody may decide it. */
export const IS_ASKED = `
  (w.purpose <> 'deadline' OR EXISTS (
    SELECT 1 FROM hitl_sessions AS h WHERE h.id = w.place AND h.status = 'awaiting_approval'))`;

const IS_TIME = `w.due_at <= @now AND ${IS_ASKED}`;

const HAS_COME = `
  w.purpose = 'signal' AND EXISTS (
    SELECT 1 FROM signals AS s
    WHERE s.thread_id = w.thread_id AND s.consumed_at IS NULL AND s.kind = 'message'
      AND s.payload_json ->> 'name' = w.subject)
  OR w.purpose = 'child' AND EXISTS (
    SELECT 1 FROM threads AS c
    WHERE c.thread_id = w.subject AND c.status IN ${ENDED})`;

// A worker does not overtake a pause. `start` raises the wake sequence of its run.
const IS_WOKEN = `
  t.status IN ('created', 'waiting') AND t.wake_seq > t.handled_seq AND NOT EXISTS (
    SELECT 1 FROM signals AS s WHERE s.thread_id = t.thread_id AND s.consumed_at IS NULL AND s.kind = 'pause')`;

// Word for word the condition of the index `threads_due`: what is not in it is not due either, and is not read at a look.
const MAY_BE_DUE = `(t.status IN ('created', 'running') OR (t.status = 'paused' AND t.reason = 'asked to stop')
    OR (t.status IN ('waiting', 'paused') AND t.wake_seq > t.handled_seq))`;

interface DuePlan {
  /** `waits AS w` with `threads AS t`. */
  readonly waits: string;
  /** `threads AS t`. */
  readonly runs: string;
  /** One more condition of `t`, before what it costs more to find. */
  readonly scope?: string;
}

// A run that waits; one whose driver is gone or was told to leave; and one that was given a turn that nobody has driven.
const dueSql = ({ waits, runs, scope = '' }: DuePlan): string => `
  SELECT t.thread_id AS threadId, coalesce(w.due_at, w.created_at) AS since, t.rowid AS place
  FROM ${waits}
  WHERE t.status = 'waiting' AND w.state = 'pending' ${scope} AND (${IS_TIME} OR ${HAS_COME})
  UNION ALL
  SELECT t.thread_id, t.updated_at, t.rowid FROM ${runs}
  WHERE ${MAY_BE_DUE} ${scope} AND (
    t.status = 'running' OR (@takesWoken AND ${IS_WOKEN}) OR (t.status = 'paused' AND t.reason = @leftFor)
    OR (t.status = 'created' AND @begunBy >= coalesce(
          (SELECT max(i.begun_at) FROM thread_inputs AS i WHERE i.thread_id = t.thread_id), t.created_at)))`;

// Read at every look: neither runs that wait for a person nor those that wait for an input are looked at.
const ANY_DUE = dueSql({
  waits: 'waits AS w INDEXED BY waits_by_due CROSS JOIN threads AS t ON t.thread_id = w.thread_id',
  runs: 'threads AS t INDEXED BY threads_due',
  scope: 'AND (t.graph_name IS @graphName OR t.graph_name IS NULL)',
});

const OF_RUN = dueSql({
  waits: 'threads AS t JOIN waits AS w ON w.thread_id = t.thread_id',
  runs: 'threads AS t',
});

/** Of `threads AS t`. */
export const IS_IN_SCOPE = `
  (t.graph_name IS @graphName OR t.graph_name IS NULL)
  AND NOT (t.graph_name IS NULL AND t.graph_fingerprint IN (SELECT value FROM json_each(@others)))`;

const SELECT_DUE = `
  SELECT t.thread_id AS threadId, t.graph_fingerprint AS fingerprint, t.graph_name AS graphName
  FROM (SELECT threadId, min(since) AS since, place FROM (${ANY_DUE}) GROUP BY threadId) AS d
  JOIN threads AS t ON t.thread_id = d.threadId
  WHERE ${IS_IN_SCOPE} ORDER BY d.since, d.place LIMIT @limit`;

const SELECT_NEXT_TIME = `
  SELECT min(due_at) FROM waits INDEXED BY waits_by_due WHERE state = 'pending' AND due_at > ?`;

const SELECT_IS_DUE = `SELECT 1 FROM (${OF_RUN}) WHERE threadId = @threadId LIMIT 1`;

/**
 * Timers, signals and child runs that runs wait for. A row is pending until its time or what it waits for came, whichever is first:
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
    prepare<[object]>(this.#db, INSERT).run({ ...wait, now: this.#now() });
    return this.find(wait) as Wait;
  }

  find({ threadId, place, name }: WaitKey): Wait | null {
    return prepare<[object], Wait>(this.#db, SELECT).get({ threadId, place, name }) ?? null;
  }

  /** The waits that a run's open interrupts stand for. */
  at(threadId: string, interruptIds: readonly string[]): readonly Wait[] {
    return prepare<[object], Wait>(this.#db, SELECT_AT).all({
      threadId,
      interruptIds: JSON.stringify(interruptIds),
    });
  }

  /** The deadlines of gates, ended or not, the earliest first. @param gates - Ids of sessions. */
  deadlines(threadId: string, gates: readonly string[]): readonly Wait[] {
    return prepare<[object], Wait>(this.#db, SELECT_DEADLINES).all({
      threadId,
      gates: JSON.stringify(gates),
    });
  }

  /** Ends a wait whose time has come: true for exactly one caller. @param at - Milliseconds since the Unix epoch. */
  fire({ seq }: Pick<Wait, 'seq'>, at: number): boolean {
    return prepare<[object]>(this.#db, FIRE).run({ seq, at, now: this.#now() }).changes === 1;
  }

  /** Ends a wait with what came: true for exactly one caller. */
  meet({ seq }: Pick<Wait, 'seq'>, metBy: string): boolean {
    return prepare<[object]>(this.#db, MEET).run({ seq, metBy, now: this.#now() }).changes === 1;
  }

  /** Gives up the pending waits of a run's nodes but those of these interrupts: nobody comes back to the others. */
  keepOnly(threadId: string, interruptIds: readonly string[]): void {
    prepare<[object]>(this.#db, KEEP_ONLY).run({
      threadId,
      interruptIds: JSON.stringify(interruptIds),
      now: this.#now(),
    });
  }

  /** Hands the waits of a visit to the one that takes its place. */
  moveVisit(moved: MovedWaits): void {
    prepare<[object]>(this.#db, MOVE_VISIT).run(moved);
  }

  /** Runs that can go on without a human, those whose time came first in front. */
  dueRuns(since: DueCriteria, scope: DueScope): readonly DueRun[] {
    return prepare<[object], DueRun>(this.#db, SELECT_DUE).all({ ...since, ...scope });
  }

  /** Time of the first timer after `now`, in milliseconds since the Unix epoch. */
  nextTime(now: number): number | null {
    return prepare<[number], number | null>(this.#db, SELECT_NEXT_TIME).pluck().get(now) ?? null;
  }

  /** Whether a run is among {@link dueRuns}. */
  isDue(threadId: string, since: DueCriteria): boolean {
    return prepare<[object]>(this.#db, SELECT_IS_DUE).get({ ...since, threadId }) !== undefined;
  }
}
