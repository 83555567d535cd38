-- Results of durable steps, so that a recorded call is never made twice. Written by StepStore only.
CREATE TABLE agent_steps (
  thread_id   TEXT    NOT NULL,
  lg_task_id  TEXT    NOT NULL,                          -- LangGraph's task id: one visit of one node
  name        TEXT    NOT NULL,
  node        TEXT    NOT NULL,
  task_id     TEXT,
  state       TEXT    NOT NULL CHECK (state IN ('intent', 'done')),
  attempt     INTEGER NOT NULL DEFAULT 1,                -- how often the call was begun
  result_json TEXT    CHECK (result_json IS NULL OR json_valid(result_json)),
  blob_id     INTEGER REFERENCES state_blobs (blob_id),  -- instead of result_json where the result is large
  result_sha256 TEXT,                                    -- hex, of result_json: a flipped bit must not be replayed
  tokens_in   INTEGER,
  tokens_out  INTEGER,
  cost_usd    REAL,
  started_at  INTEGER NOT NULL,                          -- ms since the Unix epoch, UTC
  finished_at INTEGER,
  PRIMARY KEY (thread_id, lg_task_id, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX agent_steps_by_blob ON agent_steps (blob_id) WHERE blob_id IS NOT NULL;
