-- Append-only log of what happened, behind `devs log`. Written by EventStore only. Derived, never truth.
CREATE TABLE events (
  seq          INTEGER PRIMARY KEY,
  thread_id    TEXT,
  at           INTEGER NOT NULL,                         -- ms since the Unix epoch, UTC
  name         TEXT    NOT NULL,
  task_id      TEXT,
  payload_json TEXT    NOT NULL CHECK (json_valid(payload_json))
) STRICT;

CREATE INDEX events_by_thread ON events (thread_id, seq);
