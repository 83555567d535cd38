-- What a run streams: its chunks, gates and ends, numbered from 1 without a gap. Written by StreamStore only. What the file
-- has already, in a checkpoint, its writes or a session, is referred to and not stored a second time.
CREATE TABLE stream_events (
  thread_id   TEXT    NOT NULL,
  seq         INTEGER NOT NULL CHECK (seq > 0),          -- of the run; the newest row is never deleted, so none is used again
  mode        TEXT    NOT NULL CHECK (mode IN ('updates', 'values', 'custom', 'gate', 'end')),
  ns          TEXT    NOT NULL,                          -- LangGraph's namespace of the graph it is of; '' for the run's own
  scope       TEXT,                                      -- what it is told once in: a task, a checkpoint, a gate
  ordinal     INTEGER,                                   -- from 0, in the scope
  refers_json TEXT,                                      -- where in the file it is
  type        TEXT,                                      -- of the serialized value
  value       BLOB,                                      -- masked
  sha256      BLOB,
  PRIMARY KEY (thread_id, seq),
  CHECK ((scope IS NULL) = (ordinal IS NULL)),
  CHECK ((refers_json IS NULL) = (value IS NOT NULL AND type IS NOT NULL AND sha256 IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX stream_events_once ON stream_events (thread_id, scope, ordinal) WHERE scope IS NOT NULL;
