import type { Database } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { CHILD_SEAL, isSound, resealed, type StoreOptions, sealOf, useSeals } from '../rows/rows.ts';
import { ENDED_SQL as ENDED, type ThreadStatus } from './threadRecords.ts';
import { type DueRun, type DueScope, IS_ASKED, IS_IN_SCOPE } from './WaitStore.ts';

/** How a child had ended when its parent was told. */
export interface ChildEnd {
  readonly status: ThreadStatus;
  /** Why, for people. */
  readonly reason: string | null;
  /** `null` where it ended before it had a checkpoint. */
  readonly checkpointId: string | null;
}

/** A run that a node of another run has begun. */
export interface ChildRun {
  readonly childId: string;
  readonly parentId: string;
  /** `null` until its parent was told. */
  readonly end: ChildEnd | null;
}

interface ChildRow {
  readonly childId: string;
  readonly parentId: string;
  readonly endedAs: ThreadStatus | null;
  readonly endedBecause: string | null;
  readonly endCheckpointId: string | null;
}

const SELECT = `
  SELECT child_id AS childId, parent_id AS parentId, ended_as AS endedAs, ended_because AS endedBecause,
         end_checkpoint_id AS endCheckpointId
  FROM child_runs WHERE child_id = @childId AND ${isSound(CHILD_SEAL)}`;

const INSERT = `
  INSERT INTO child_runs (child_id, parent_id, turn, begun_at, row_sha256)
  SELECT @childId, @parentId, latest.turn, @now,
         ${sealOf(CHILD_SEAL, ['@childId', '@parentId', 'latest.turn', 'NULL', 'NULL', 'NULL'])}
  FROM (SELECT coalesce(max(turn), 1) AS turn FROM thread_inputs WHERE thread_id = @parentId) AS latest`;

// What a parent was told once is what it is told in every execution.
const END = `
  UPDATE child_runs SET ended_as = @status, ended_because = @reason, end_checkpoint_id = @checkpointId,
                        row_sha256 = ${resealed(CHILD_SEAL, {
                          ended_as: '@status',
                          ended_because: '@reason',
                          end_checkpoint_id: '@checkpointId',
                        })}
  WHERE child_id = @childId AND ended_as IS NULL AND ${isSound(CHILD_SEAL)}`;

const SELECT_ABOVE = `
  WITH RECURSIVE above (id, depth) AS (
    SELECT parent_id, 1 FROM child_runs WHERE child_id = @childId
    UNION SELECT c.parent_id, a.depth + 1 FROM child_runs AS c JOIN above AS a ON c.child_id = a.id)
  SELECT id FROM above ORDER BY depth`;

const SELECT_OPEN_BELOW = `
  WITH RECURSIVE below (id, depth) AS (
    SELECT child_id, 1 FROM child_runs WHERE parent_id = @parentId
    UNION SELECT c.child_id, b.depth + 1 FROM child_runs AS c JOIN below AS b ON c.parent_id = b.id)
  SELECT id FROM below JOIN threads ON thread_id = id
  WHERE status NOT IN ${ENDED} ORDER BY depth, id`;

// Of a turn: what its children began is part of what it has begun.
const SELECT_BELOW_IN_TURN = `
  WITH RECURSIVE below (id) AS (
    SELECT child_id FROM child_runs
    WHERE parent_id = @parentId
      AND turn = coalesce((SELECT max(turn) FROM thread_inputs WHERE thread_id = @parentId), 1)
    UNION SELECT c.child_id FROM child_runs AS c JOIN below AS b ON c.parent_id = b.id)
  SELECT id FROM below`;

const SELECT_BELOW = `
  WITH RECURSIVE below (id, depth) AS (
    SELECT child_id, 1 FROM child_runs WHERE parent_id = @parentId
    UNION SELECT c.child_id, b.depth + 1 FROM child_runs AS c JOIN below AS b ON c.parent_id = b.id)
  SELECT id FROM below ORDER BY depth DESC, id`;

const SELECT_OPEN_PARENT = `
  SELECT parent_id AS id FROM child_runs JOIN threads ON thread_id = parent_id
  WHERE child_id = @childId AND status NOT IN ('completed', 'cancelled')`;

const AWAITED = `
  SELECT DISTINCT subject AS id FROM waits WHERE thread_id = @parentId AND purpose = 'child' AND state = 'pending'`;

// A run may be waited for at several places; what it waits for itself is what its parent waits for.
const SELECT_UNTIL = `
  WITH RECURSIVE below (id) AS (
    SELECT value FROM json_each(@ids)
    UNION SELECT w.subject FROM waits AS w JOIN below AS b ON w.thread_id = b.id
          WHERE w.purpose = 'child' AND w.state = 'pending')
  SELECT min(w.due_at) FROM waits AS w JOIN below AS b ON w.thread_id = b.id
  WHERE w.state = 'pending' AND ${IS_ASKED}`;

const SELECT_PARENTS = `
  SELECT w.thread_id AS threadId, t.graph_fingerprint AS fingerprint, t.graph_name AS graphName
  FROM waits AS w INDEXED BY waits_by_due CROSS JOIN threads AS t ON t.thread_id = w.thread_id
  WHERE w.purpose = 'child' AND w.state = 'pending' AND t.status = 'waiting' AND ${IS_IN_SCOPE}
  GROUP BY w.thread_id ORDER BY min(w.seq) LIMIT @limit`;

/** Which run is whose child. A child has one parent, for ever, and what the parent is told of its end does not change. */
export class ChildStore {
  readonly #now: () => number;
  readonly #db: Database;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now }: StoreOptions = {}) {
    this.#db = db;
    this.#now = now;
    useSeals(db);
  }

  /** In the caller's transaction, which has recorded the run, too. */
  insert(child: Pick<ChildRun, 'childId' | 'parentId'>): void {
    prepare<[object]>(this.#db, INSERT).run({ ...child, now: this.#now() });
  }

  find(childId: string): ChildRun | null {
    const row = prepare<[object], ChildRow>(this.#db, SELECT).get({ childId });
    if (row === undefined) return null;
    const { parentId, endedAs: status, endedBecause: reason, endCheckpointId: checkpointId } = row;
    return { childId, parentId, end: status === null ? null : { status, reason, checkpointId } };
  }

  /** What the parent of a child was told. @throws DevsError `STATE_CORRUPT` where nobody has recorded it. */
  endOf(childId: string): ChildEnd {
    return this.find(childId)?.end ?? untold(childId);
  }

  /** Records what the parent is told; the first record stays. */
  end(childId: string, end: ChildEnd): void {
    prepare<[object]>(this.#db, END).run({ ...end, childId });
  }

  /** The parent of a run, the parent's, and so on. */
  above(childId: string): readonly string[] {
    return rowIds(prepare<[object], IdRow>(this.#db, SELECT_ABOVE).all({ childId }));
  }

  /** Every run below a run, the deepest first. */
  below(parentId: string): readonly string[] {
    return rowIds(prepare<[object], IdRow>(this.#db, SELECT_BELOW).all({ parentId }));
  }

  /** Those of them that the turn it stands in has begun. */
  belowInTurn(parentId: string): readonly string[] {
    return rowIds(prepare<[object], IdRow>(this.#db, SELECT_BELOW_IN_TURN).all({ parentId }));
  }

  /** Those of all that have not ended, the highest first. */
  openBelow(parentId: string): readonly string[] {
    return rowIds(prepare<[object], IdRow>(this.#db, SELECT_OPEN_BELOW).all({ parentId }));
  }

  /** The parent of a run, if it may begin the run anew. */
  openParentOf(childId: string): readonly string[] {
    return rowIds(prepare<[object], IdRow>(this.#db, SELECT_OPEN_PARENT).all({ childId }));
  }

  /** Children that a run waits for. */
  awaitedBy(parentId: string): readonly string[] {
    return rowIds(prepare<[object], IdRow>(this.#db, AWAITED).all({ parentId }));
  }

  /** Runs that wait for a child, the one that began to first in front. */
  waitingParents(scope: DueScope): readonly DueRun[] {
    return prepare<[object], DueRun>(this.#db, SELECT_PARENTS).all(scope);
  }

  /** When the first timer of these runs is due, or of the runs they wait for, in ms since the Unix epoch; `null` for none. */
  untilOf(ids: readonly string[]): number | null {
    const row = prepare<[object], object>(this.#db, SELECT_UNTIL).get({ ids: JSON.stringify(ids) });
    return (Object.values(row ?? {})[0] ?? null) as number | null;
  }
}

function untold(childId: string): never {
  throw new DevsError(`The end of child run "${childId}" is missing from this state file.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Run devs admin doctor, then restore a backup of the state file.',
    context: { threadId: childId },
  });
}

interface IdRow {
  readonly id: string;
}

const rowIds = (rows: readonly IdRow[]): readonly string[] => rows.map(({ id }) => id);

/** Of a run that has ended: its last checkpoint says with what values. */
export function endIsMissing(runId: string): DevsError {
  return new DevsError(`The last checkpoint of run "${runId}" is missing from the state file.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Run devs admin doctor, then restore a backup of the state file.',
    context: { threadId: runId },
  });
}
