-- Runs that a node of another run has begun. Written by ChildStore only.
CREATE TABLE child_runs (
  child_id          TEXT    PRIMARY KEY REFERENCES threads (thread_id),
  parent_id         TEXT    NOT NULL REFERENCES threads (thread_id), -- for ever: a child has one parent
  turn              INTEGER NOT NULL,                                -- of the parent: budgets count by turn
  begun_at          INTEGER NOT NULL,                                -- ms since the Unix epoch, UTC
  ended_as          TEXT,                                            -- how its parent was told that it ended; NULL until then
  ended_because     TEXT,
  end_checkpoint_id TEXT,                                            -- the values that its parent was given
  CHECK (child_id <> parent_id)
) STRICT;

CREATE INDEX child_runs_by_parent ON child_runs (parent_id);
