-- Every question to a human, open or closed. Written by HitlSessionStore only. Source: 9_ROADMAP-REQ-006.
-- A session can be decided only when it is bound to an interrupt: then the output it is about is on disk.
CREATE TABLE IF NOT EXISTS hitl_sessions (
  id               TEXT    PRIMARY KEY NOT NULL,
  task_id          TEXT    NOT NULL,
  graph_state_json TEXT    NOT NULL,                     -- never logged; '{}' where checkpoint_id names the state
  suspended_at     INTEGER NOT NULL,                     -- ms since the Unix epoch, UTC
  resumed_at       INTEGER,
  status           TEXT    NOT NULL DEFAULT 'awaiting_approval' CHECK (status IN
    ('awaiting_approval', 'decided', 'resumed', 'superseded', 'cancelled')),
  kind             TEXT    NOT NULL DEFAULT 'task_failure' CHECK (kind IN
    ('design_approval', 'dag_approval', 'task_failure', 'recursion_limit', 'budget', 'review', 'node_gate')),
  thread_id        TEXT,
  interrupt_id     TEXT,
  question_key     TEXT,
  checkpoint_id    TEXT,
  artifact_hash    TEXT,                                 -- SHA-256 hex of what was shown
  question_json    TEXT    CHECK (question_json IS NULL OR json_valid(question_json)),
  evidence_json    TEXT    CHECK (evidence_json IS NULL OR json_valid(evidence_json)),
  decision_json    TEXT    CHECK (decision_json IS NULL OR json_valid(decision_json)),
  principal_kind   TEXT    CHECK (principal_kind IN ('human', 'policy', 'agent')),
  principal_id     TEXT,
  decided_at       INTEGER,
  UNIQUE (thread_id, interrupt_id)
);

CREATE INDEX hitl_sessions_open ON hitl_sessions (status, suspended_at);
CREATE INDEX hitl_sessions_by_key ON hitl_sessions (thread_id, question_key);
