-- The decision log: append-only, each row chained to the one before by SHA-256. Written by DecisionLog only.
CREATE TABLE hitl_decisions (
  seq         INTEGER PRIMARY KEY,
  session_id  TEXT    NOT NULL REFERENCES hitl_sessions (id),
  body_json   TEXT    NOT NULL CHECK (json_valid(body_json)),
  prev_sha256 TEXT    NOT NULL,                          -- 64 zeros for the first row
  sha256      TEXT    NOT NULL UNIQUE                    -- of prev_sha256, then body_json
) STRICT;

CREATE TRIGGER hitl_decisions_no_update BEFORE UPDATE ON hitl_decisions
BEGIN SELECT RAISE(ABORT, 'hitl_decisions is append-only'); END;

CREATE TRIGGER hitl_decisions_no_delete BEFORE DELETE ON hitl_decisions
BEGIN SELECT RAISE(ABORT, 'hitl_decisions is append-only'); END;
