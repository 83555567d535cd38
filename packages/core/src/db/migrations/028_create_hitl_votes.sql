-- Yeses at gates that want more than one, until the last of them is the decision. Written by HitlVoteStore only.
CREATE TABLE hitl_votes (
  session_id     TEXT    NOT NULL REFERENCES hitl_sessions (id),
  principal_kind TEXT    NOT NULL,
  principal_id   TEXT    NOT NULL,
  artifact_hash  TEXT    NOT NULL,                       -- SHA-256 hex of what was shown
  feedback       TEXT,                                   -- masked
  voted_at       INTEGER NOT NULL,                       -- ms since the Unix epoch, UTC
  row_sha256     BLOB    NOT NULL,                       -- of the other columns
  PRIMARY KEY (session_id, principal_kind, principal_id)
) STRICT;
