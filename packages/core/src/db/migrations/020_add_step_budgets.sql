-- What a step reserves before it is made, whether it is a call at all, and that it threw. agent_steps is copied: SQLite
-- cannot change a CHECK. Written by StepStore only.
CREATE TABLE agent_steps_next (
  thread_id   TEXT    NOT NULL,
  lg_task_id  TEXT    NOT NULL,                          -- LangGraph's task id: one visit of one node
  name        TEXT    NOT NULL,
  node        TEXT    NOT NULL,
  task_id     TEXT,
  kind        TEXT    NOT NULL DEFAULT 'call' CHECK (kind IN ('call', 'work')),
  state       TEXT    NOT NULL CHECK (state IN ('intent', 'failed', 'done')),
  attempt     INTEGER NOT NULL DEFAULT 1,                -- how often the call was begun
  failures    INTEGER NOT NULL DEFAULT 0,                -- how often it threw
  result_json TEXT    CHECK (result_json IS NULL OR json_valid(result_json)),
  blob_id     INTEGER REFERENCES state_blobs (blob_id),  -- instead of result_json where the result is large
  result_sha256 TEXT,                                    -- hex, of result_json: a flipped bit must not be replayed
  tokens_in   INTEGER,                                   -- of every attempt that reported
  tokens_out  INTEGER,
  cost_usd    REAL,
  unpriced    INTEGER NOT NULL DEFAULT 0,                -- reports whose cost is unknown
  reserved_usd    REAL    NOT NULL DEFAULT 0,            -- while it is an intent
  reserved_tokens INTEGER NOT NULL DEFAULT 0,
  started_at  INTEGER NOT NULL,                          -- ms since the Unix epoch, UTC
  finished_at INTEGER,
  PRIMARY KEY (thread_id, lg_task_id, name)
) STRICT, WITHOUT ROWID;

INSERT INTO agent_steps_next (thread_id, lg_task_id, name, node, task_id, state, attempt, result_json, blob_id,
                              result_sha256, tokens_in, tokens_out, cost_usd, started_at, finished_at)
SELECT thread_id, lg_task_id, name, node, task_id, state, attempt, result_json, blob_id,
       result_sha256, tokens_in, tokens_out, cost_usd, started_at, finished_at
FROM agent_steps;

DROP TABLE agent_steps;
ALTER TABLE agent_steps_next RENAME TO agent_steps;

CREATE INDEX agent_steps_by_blob ON agent_steps (blob_id) WHERE blob_id IS NOT NULL;

-- Everything a budget adds up, so that it reads no results.
CREATE INDEX agent_steps_spending ON agent_steps
  (thread_id, task_id, state, failures, tokens_in, tokens_out, cost_usd, reserved_usd, reserved_tokens)
  WHERE kind = 'call';

-- Time a run was driven, per task; waiting for humans is not driving. Written by DrivenTimeStore only.
CREATE TABLE driven_time (
  thread_id TEXT    NOT NULL,
  task_id   TEXT    NOT NULL,                            -- empty outside a task
  ms        INTEGER NOT NULL,
  PRIMARY KEY (thread_id, task_id)
) STRICT, WITHOUT ROWID;
