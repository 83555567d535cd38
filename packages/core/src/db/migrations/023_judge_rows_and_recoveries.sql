-- Check values of rows, the end of the decision log, and what a recovery is counted by.

-- SHA-256 of the row's other columns: NULL in rows from before, empty only inside the transaction that changes the row.
-- A later migration that changes a covered column sets it to NULL. Written by HitlSessionStore only.
ALTER TABLE hitl_sessions ADD COLUMN row_sha256 BLOB;

CREATE INDEX hitl_sessions_unsealed ON hitl_sessions (id) WHERE row_sha256 = x'';

-- The same of what a signal says, but not of whether it was consumed. Written by SignalStore only.
ALTER TABLE signals ADD COLUMN row_sha256 BLOB;

-- The same of what a run was declared with: project, folder, brief, graph, policies. Written by ThreadStore only.
ALTER TABLE threads ADD COLUMN declared_sha256 BLOB;

-- The last lease under which a node was begun, and when a recovery was counted last, in ms since the Unix epoch, UTC.
-- Written by ThreadStore only.
ALTER TABLE threads ADD COLUMN worked_epoch INTEGER;
ALTER TABLE threads ADD COLUMN recovery_counted_at INTEGER;

-- How long the decision log is and the SHA-256 of its last line, apart from it: a line that is removed from its end is
-- missed. Written by DecisionLog only.
CREATE TABLE decision_log_end (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  lines  INTEGER NOT NULL,
  sha256 TEXT    NOT NULL                                -- 64 zeros where there is no line
) STRICT;

INSERT INTO decision_log_end (id, lines, sha256)
SELECT 1, count(*), coalesce((SELECT sha256 FROM hitl_decisions ORDER BY seq DESC LIMIT 1),
                             '0000000000000000000000000000000000000000000000000000000000000000')
FROM hitl_decisions;
