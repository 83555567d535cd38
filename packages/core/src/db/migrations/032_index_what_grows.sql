-- Nothing that a list, a gate, a call or a request reads grows with what it does not show.

-- Requests of one kind that nobody has handled: decisions are never consumed and were read with them.
DROP INDEX signals_untaken;
CREATE INDEX signals_unhandled ON signals (thread_id, kind, seq) WHERE consumed_at IS NULL;

-- In the order in which runs are listed.
CREATE INDEX threads_by_age ON threads (created_at);

CREATE INDEX hitl_sessions_of_run ON hitl_sessions (thread_id, status, suspended_at);
CREATE INDEX hitl_sessions_answered ON hitl_sessions (thread_id, kind, suspended_at) WHERE decision_json IS NOT NULL;
CREATE INDEX hitl_sessions_by_human ON hitl_sessions (thread_id, checkpoint_id)
  WHERE decided_at IS NOT NULL AND principal_kind = 'human';

CREATE INDEX hitl_failure_gates_by_session ON hitl_failure_gates (session_id);
CREATE INDEX hitl_failure_gates_history_by_session ON hitl_failure_gates_history (session_id);

-- Few of a run, and looked for by name among all of its events.
CREATE INDEX events_rare ON events (thread_id, name, seq) WHERE name IN ('GATE_SHOWN', 'RUN_SYNCED');

-- What calls have cost is read from the index alone.
DROP INDEX agent_steps_spending;
CREATE INDEX agent_steps_spending ON agent_steps
  (thread_id, turn, task_id, state, failures, tokens_in, tokens_out, cost_usd, reserved_usd, reserved_tokens, unpriced)
  WHERE kind = 'call';

-- Which values the rows of the journal refer to, inside their text; kept by the triggers below. A row that was damaged
-- since may leave a line behind: its value stays, then.
CREATE TABLE journal_values (
  blob_id INTEGER NOT NULL,
  turn_id TEXT    NOT NULL,                              -- langgraph_checkpoints.id
  PRIMARY KEY (blob_id, turn_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER journal_values_insert AFTER INSERT ON langgraph_checkpoints
WHEN NEW.serialized_state LIKE '{"$devs":%'
BEGIN
  INSERT INTO journal_values (blob_id, turn_id)
  SELECT DISTINCT value, NEW.id FROM json_each(NEW.serialized_state, '$.channels') WHERE type = 'integer';
END;

CREATE TRIGGER journal_values_delete AFTER DELETE ON langgraph_checkpoints
WHEN OLD.serialized_state LIKE '{"$devs":%' AND json_valid(OLD.serialized_state)
BEGIN
  DELETE FROM journal_values
  WHERE turn_id = OLD.id AND blob_id IN (
    SELECT value FROM json_each(OLD.serialized_state, '$.channels') WHERE type = 'integer');
END;

INSERT INTO journal_values (blob_id, turn_id)
SELECT DISTINCT refers.value, turn.id
FROM langgraph_checkpoints AS turn,
     json_each(iif(json_valid(turn.serialized_state), turn.serialized_state, '{}'), '$.channels') AS refers
WHERE turn.serialized_state LIKE '{"$devs":%' AND refers.type = 'integer';
