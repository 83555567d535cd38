-- Turns that were recorded before the turn in front of them has ended. Written by QueuedTurnStore only.
CREATE TABLE queued_turns (
  thread_id  TEXT    NOT NULL REFERENCES threads (thread_id),
  position   INTEGER NOT NULL CHECK (position >= 1),     -- of the run; the first one begins next
  turn_key   TEXT    NOT NULL,                           -- the caller's name of the turn
  type       TEXT    NOT NULL,                           -- of the serialized input, as in thread_inputs
  value      BLOB    NOT NULL,
  sha256     BLOB    NOT NULL,
  seal       INTEGER NOT NULL,                           -- six bytes of a SHA-256 that binds the row to its key
  queued_at  INTEGER NOT NULL,                           -- ms since the Unix epoch, UTC
  dropped_at INTEGER,                                    -- when it was cancelled: it never begins
  PRIMARY KEY (thread_id, position)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX queued_turns_by_key ON queued_turns (thread_id, turn_key);
