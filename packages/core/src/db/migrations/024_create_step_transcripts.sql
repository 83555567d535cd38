-- What agents, checks and the preparation of a folder told while they worked, masked, as pieces in the order they were
-- written. Written by TranscriptStore only. For people: nothing is decided by it, and a piece may be missing.
CREATE TABLE step_transcripts (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,          -- never used again: a reader goes on after the last it has
  thread_id  TEXT    NOT NULL,
  lg_task_id TEXT    NOT NULL,                           -- LangGraph's task id: one visit of one node
  name       TEXT    NOT NULL,                           -- the step, or 'prepare' for what is done before the first
  attempt    INTEGER NOT NULL,                           -- of the step, from 1
  node       TEXT    NOT NULL,
  task_id    TEXT,
  skipped    INTEGER NOT NULL DEFAULT 0,                 -- characters that were told before this piece and are not kept
  blob_id    INTEGER NOT NULL REFERENCES state_blobs (blob_id),
  at         INTEGER NOT NULL                            -- ms since the Unix epoch, UTC: when it was written
) STRICT;

CREATE INDEX step_transcripts_by_thread ON step_transcripts (thread_id, seq);
CREATE INDEX step_transcripts_by_blob ON step_transcripts (blob_id);
