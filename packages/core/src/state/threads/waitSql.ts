// SQL of WaitStore. Needs `useSeals`.
import { isSound, resealed, sealOf, WAIT_SEAL } from '../rows/rowSeals.ts';
import { ENDED } from './threadRows.ts';

const COLUMNS = `
  seq, thread_id AS threadId, place, name, purpose, subject, interrupt_id AS interruptId, due_at AS dueAt, state,
  met_by AS metBy`;

const NEW = [
  ...['@threadId', '@place', '@name', '@purpose', '@subject', '@interruptId', '@dueAt', "'pending'", 'NULL'],
];

const SOUND = isSound(WAIT_SEAL);

// One that was given up and is come back to goes on with the date it had.
export const INSERT = `
  INSERT INTO waits (thread_id, place, name, purpose, subject, interrupt_id, due_at, created_at, row_sha256)
  VALUES (@threadId, @place, @name, @purpose, @subject, @interruptId, @dueAt, @now, ${sealOf(WAIT_SEAL, NEW)})
  ON CONFLICT (thread_id, place, name) DO UPDATE SET
    state = 'pending', ended_at = NULL, row_sha256 = ${resealed(WAIT_SEAL, { state: "'pending'" })}
  WHERE state = 'void'`;

export const SELECT = `
  SELECT ${COLUMNS} FROM waits WHERE thread_id = @threadId AND place = @place AND name = @name AND ${SOUND}`;

export const SELECT_AT = `
  SELECT ${COLUMNS} FROM waits
  WHERE thread_id = @threadId AND interrupt_id IN (SELECT value FROM json_each(@interruptIds)) AND ${SOUND}
  ORDER BY seq`;

export const SELECT_DEADLINES = `
  SELECT ${COLUMNS} FROM waits
  WHERE thread_id = @threadId AND purpose = 'deadline' AND place IN (SELECT value FROM json_each(@gates)) AND ${SOUND}
  ORDER BY due_at, seq`;

export const FIRE = `
  UPDATE waits SET state = 'due', ended_at = @now, row_sha256 = ${resealed(WAIT_SEAL, { state: "'due'" })}
  WHERE seq = @seq AND state = 'pending' AND due_at <= @at AND ${SOUND}`;

export const MEET = `
  UPDATE waits SET state = 'met', met_by = @metBy, ended_at = @now,
                   row_sha256 = ${resealed(WAIT_SEAL, { state: "'met'", met_by: '@metBy' })}
  WHERE seq = @seq AND state = 'pending' AND ${SOUND}`;

export const KEEP_ONLY = `
  UPDATE waits SET state = 'void', ended_at = @now, row_sha256 = ${resealed(WAIT_SEAL, { state: "'void'" })}
  WHERE thread_id = @threadId AND state = 'pending' AND purpose <> 'deadline'
    AND interrupt_id NOT IN (SELECT value FROM json_each(@interruptIds)) AND ${SOUND}`;

const MOVED = '@toVisitId || substr(place, length(@visitId) + 1)';

// A visit's id, or one with a slash behind it.
export const MOVE_VISIT = `
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

// A run that waits; one whose driver is gone or was told to leave; and one that was given a turn that nobody has driven.
const DUE = `
  SELECT t.thread_id AS threadId, coalesce(w.due_at, w.created_at) AS since, t.rowid AS place
  FROM threads AS t JOIN waits AS w ON w.thread_id = t.thread_id
  WHERE t.status = 'waiting' AND w.state = 'pending' AND (${IS_TIME} OR ${HAS_COME})
  UNION ALL
  SELECT t.thread_id, t.updated_at, t.rowid FROM threads AS t
  WHERE t.status = 'running' OR (t.status = 'paused' AND t.reason = @leftFor)
     OR (t.status = 'created' AND @begunBy >= coalesce(
          (SELECT max(i.begun_at) FROM thread_inputs AS i WHERE i.thread_id = t.thread_id), t.created_at))`;

export const SELECT_DUE = `SELECT threadId FROM (${DUE}) GROUP BY threadId ORDER BY min(since), place`;

export const SELECT_IS_DUE = `SELECT 1 FROM (${DUE}) WHERE threadId = @threadId LIMIT 1`;
