-- One row per task whose run was handed to a human because it stopped making progress.
-- Written by FailureGateStore only. Source: 9_ROADMAP-REQ-006.
CREATE TABLE IF NOT EXISTS hitl_failure_gates (
  id            TEXT    PRIMARY KEY NOT NULL,
  task_id       TEXT    NOT NULL UNIQUE,                 -- makes evaluate() idempotent
  entropy_score REAL    NOT NULL CHECK (entropy_score BETWEEN 0 AND 1),
  triggered_at  INTEGER NOT NULL,                        -- ms since the Unix epoch, UTC
  session_id    TEXT    NOT NULL,
  reason        TEXT    NOT NULL DEFAULT 'entropy_limit',
  FOREIGN KEY (session_id) REFERENCES hitl_sessions (id)
);
