-- What a state file is known by, and the lines of the decision log by their sessions.

-- Random, made when `devs` makes or accepts the file: a copy and a backup have it too. Written by nameStateFile only.
CREATE TABLE state_file (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  file_id TEXT    NOT NULL CHECK (length(file_id) = 64)  -- hex
) STRICT;

-- An answer that is taken up is looked up in the log.
CREATE INDEX hitl_decisions_by_session ON hitl_decisions (session_id);
