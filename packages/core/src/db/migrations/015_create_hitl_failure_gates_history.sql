-- Failure gates a human has answered; moved here so that the task can trip again. Written by FailureGateStore only.
CREATE TABLE hitl_failure_gates_history (
  id            TEXT    PRIMARY KEY NOT NULL,
  task_id       TEXT    NOT NULL,
  entropy_score REAL    NOT NULL,
  triggered_at  INTEGER NOT NULL,                        -- ms since the Unix epoch, UTC
  session_id    TEXT    NOT NULL REFERENCES hitl_sessions (id),
  reason        TEXT    NOT NULL,
  resolved_at   INTEGER NOT NULL,
  resolution    TEXT    NOT NULL                         -- the answer's action, or 'rewound'
) STRICT;

CREATE INDEX hitl_failure_gates_history_by_task ON hitl_failure_gates_history (task_id);
