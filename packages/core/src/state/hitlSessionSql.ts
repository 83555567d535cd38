// What becomes of earlier sessions when a node asks again.

export const SUPERSEDE_OLDER = `
  UPDATE hitl_sessions SET status = 'superseded'
  WHERE thread_id = @threadId AND status = 'awaiting_approval'
    AND ((question_key = @questionKey AND interrupt_id <> @interruptId)
      OR interrupt_id GLOB 'carried/' || @visitId || '/*')`;

// An answer counts for what was shown, and the same question shows something else now.
export const VOID_OLDER = `
  UPDATE hitl_sessions SET status = 'superseded'
  WHERE thread_id = @threadId AND question_key = @questionKey AND interrupt_id <> @interruptId
    AND artifact_hash <> @artifactHash AND status IN ('decided', 'resumed')
  RETURNING id`;

// LangGraph names a question by its place, whatever it shows.
export const CLEAR_PLACE = `
  UPDATE hitl_sessions SET status = 'superseded', interrupt_id = 'void/' || id
  WHERE thread_id = @threadId AND interrupt_id = @interruptId AND artifact_hash <> @artifactHash
    AND kind IN ('interrupt', 'node_gate')
  RETURNING id`;

export const CARRY = `
  UPDATE hitl_sessions SET interrupt_id = 'carried/' || @toVisitId || '/' || id, checkpoint_id = @checkpointId
  WHERE thread_id = @threadId AND status NOT IN ('superseded', 'cancelled')
    AND (interrupt_id IN (SELECT value FROM json_each(@interruptIds))
      OR id IN (SELECT value FROM json_each(@sessionIds)))`;

// Oldest first: a visit asks its questions in the order in which it asked them before. An `interrupt()` that was asked as
// a `node_gate`, by an earlier release, stays one.
export const ADOPT = `
  UPDATE hitl_sessions SET interrupt_id = @interruptId, question_key = @questionKey,
                           checkpoint_id = @checkpointId, question_json = @questionJson
  WHERE id = (
    SELECT id FROM hitl_sessions
    WHERE thread_id = @threadId AND interrupt_id GLOB 'carried/' || @visitId || '/*'
      AND (kind = @kind OR (kind = 'node_gate' AND @kind = 'interrupt'))
      AND artifact_hash = @artifactHash AND status NOT IN ('superseded', 'cancelled')
    ORDER BY suspended_at ASC, rowid ASC LIMIT 1)`;
