-- Rewinds of a run to the end of a task: the intent first, then what was done. Written by RewindStore only.
CREATE TABLE rewinds (
  id             TEXT    PRIMARY KEY NOT NULL,
  thread_id      TEXT    NOT NULL REFERENCES threads (thread_id),
  target_task_id TEXT    NOT NULL,
  undone_json    TEXT    NOT NULL CHECK (json_valid(undone_json)),
  before_json    TEXT    NOT NULL CHECK (json_valid(before_json)),
  ref_before     TEXT,
  ref_after      TEXT,
  state          TEXT    NOT NULL CHECK (state IN ('intent', 'done', 'undone')),
  created_at     INTEGER NOT NULL,                       -- ms since the Unix epoch, UTC
  undone_at      INTEGER
) STRICT;

CREATE INDEX rewinds_by_thread ON rewinds (thread_id, created_at);
