-- Room for what follows: kinds and statuses that code checks, a run's input in a table of its own, folders named from
-- the state folder, a decision log that outlives its runs. Every table is written by the class that its section names.
--
-- SQLite cannot change a CHECK or drop a foreign key, so seven tables are made anew. Their rows wait in temporary
-- tables: no renaming, which a view that somebody put over a table would make fail. With foreign keys on, dropping a
-- table deletes its rows first, so children go before their parents. rowid is copied: the stores list by it.
CREATE TEMP TABLE held_threads AS SELECT rowid AS row, * FROM threads;
CREATE TEMP TABLE held_signals AS SELECT rowid AS row, * FROM signals;
CREATE TEMP TABLE held_rewinds AS SELECT rowid AS row, * FROM rewinds;
CREATE TEMP TABLE held_sessions AS SELECT rowid AS row, * FROM hitl_sessions;
CREATE TEMP TABLE held_decisions AS SELECT * FROM hitl_decisions;
CREATE TEMP TABLE held_gates AS SELECT rowid AS row, * FROM hitl_failure_gates;
CREATE TEMP TABLE held_gates_history AS SELECT rowid AS row, * FROM hitl_failure_gates_history;

DROP TABLE signals;
DROP TABLE rewinds;
DROP TABLE threads;
DROP TABLE hitl_decisions;
DROP TABLE hitl_failure_gates;
DROP TABLE hitl_failure_gates_history;
DROP TABLE hitl_sessions;

-- The truth about a run, written before its graph is called. Written by ThreadStore only, which knows the statuses.
CREATE TABLE threads (
  thread_id          TEXT    PRIMARY KEY NOT NULL,
  project_id         TEXT    NOT NULL,
  workspace          TEXT,                               -- the run's folder, from the state folder; NULL without one
  brief_sha256       TEXT,
  graph_fingerprint  TEXT    NOT NULL,
  policies_json      TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(policies_json)),
  status             TEXT    NOT NULL DEFAULT 'created',
  reason             TEXT,                               -- why it ended or waits, for people
  degraded           INTEGER NOT NULL DEFAULT 0 CHECK (degraded IN (0, 1)),
  wake_seq           INTEGER NOT NULL DEFAULT 0,         -- raised by every signal
  handled_seq        INTEGER NOT NULL DEFAULT 0,         -- last wake a driver settled on
  lease_owner        TEXT,
  lease_epoch        INTEGER NOT NULL DEFAULT 0,         -- grows with every claim; fences older drivers
  lease_expires_mono INTEGER,                            -- ms on the owner's monotonic clock
  lease_boot_id      TEXT,                               -- the boot that clock belongs to
  recoveries         INTEGER NOT NULL DEFAULT 0,
  created_at         INTEGER NOT NULL,                   -- ms since the Unix epoch, UTC
  updated_at         INTEGER NOT NULL
) STRICT;

-- A folder in or beside the state folder is named from there, so that a project that is moved keeps its runs. SQLite
-- names the file without symbolic links: a folder that was recorded through one keeps its absolute name, and
-- ThreadStore knows both. `dir` and `parent` end with a slash; both are empty in memory, where every name stays as it
-- is, and `parent` is at the root.
WITH place (dir) AS (
  SELECT rtrim(file, replace(file, '/', '')) FROM pragma_database_list WHERE name = 'main'
),
folders (dir, parent) AS (
  SELECT dir, rtrim(rtrim(dir, '/'), replace(rtrim(dir, '/'), '/', '')) FROM place
)
INSERT INTO threads (rowid, thread_id, project_id, workspace, brief_sha256, graph_fingerprint, policies_json, status,
                     reason, degraded, wake_seq, handled_seq, lease_owner, lease_epoch, lease_expires_mono,
                     lease_boot_id, recoveries, created_at, updated_at)
SELECT row, thread_id, project_id,
       CASE
         WHEN workspace || '/' = dir THEN '.'
         WHEN workspace || '/' = parent THEN '..'
         WHEN substr(workspace, 1, length(dir)) = dir THEN substr(workspace, length(dir) + 1)
         WHEN parent <> '' AND substr(workspace, 1, length(parent)) = parent
           THEN '../' || substr(workspace, length(parent) + 1)
         ELSE workspace
       END,
       brief_sha256, graph_fingerprint,
       iif(json_type(policies_json, '$.input.type') = 'text' AND json_type(policies_json, '$.input.bytes') = 'text',
           json_remove(policies_json, '$.input'), policies_json),
       status, reason, degraded, wake_seq, handled_seq, lease_owner, lease_epoch, lease_expires_mono, lease_boot_id,
       recoveries, created_at, updated_at
FROM held_threads, folders ORDER BY row;

-- Two live runs never share a working folder.
CREATE UNIQUE INDEX threads_live_workspace ON threads (workspace)
  WHERE workspace IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled', 'dead_letter');

-- What a run was given: apart from its row, which every claim rewrites as a whole. Written by ThreadInputStore only.
CREATE TABLE thread_inputs (
  thread_id TEXT NOT NULL REFERENCES threads (thread_id),
  type      TEXT NOT NULL,                               -- the serializer's name of the form, such as 'json'
  value     ANY  NOT NULL,                               -- the bytes; their base64 in rows of an older engine
  sha256    BLOB CHECK (sha256 IS NULL OR length(sha256) = 32), -- of the bytes
  CHECK (typeof(value) = iif(sha256 IS NULL, 'text', 'blob'))
) STRICT;

-- An index and no primary key: it can be dropped when a run may be given more.
CREATE UNIQUE INDEX thread_inputs_by_thread ON thread_inputs (thread_id);

INSERT INTO thread_inputs (thread_id, type, value)
SELECT thread_id, policies_json ->> '$.input.type', policies_json ->> '$.input.bytes'
FROM held_threads
WHERE json_type(policies_json, '$.input.type') = 'text' AND json_type(policies_json, '$.input.bytes') = 'text'
ORDER BY row;

-- Recorded requests to a run; kept after they were handled. Written by SignalStore only, which knows the kinds.
CREATE TABLE signals (
  id           TEXT    PRIMARY KEY NOT NULL,
  thread_id    TEXT    NOT NULL REFERENCES threads (thread_id),
  seq          INTEGER NOT NULL,                         -- the run's wake_seq this signal raised
  kind         TEXT    NOT NULL,
  payload_json TEXT    NOT NULL CHECK (json_valid(payload_json)),
  created_at   INTEGER NOT NULL,
  consumed_at  INTEGER,
  UNIQUE (thread_id, seq)
) STRICT;

INSERT INTO signals (rowid, id, thread_id, seq, kind, payload_json, created_at, consumed_at)
SELECT row, id, thread_id, seq, kind, payload_json, created_at, consumed_at FROM held_signals ORDER BY row;

-- Rewinds of a run to the end of a task: the intent first, then what was done. Written by RewindStore only.
CREATE TABLE rewinds (
  id             TEXT    PRIMARY KEY NOT NULL,
  thread_id      TEXT    NOT NULL REFERENCES threads (thread_id),
  target_task_id TEXT    NOT NULL,
  undone_json    TEXT    NOT NULL CHECK (json_valid(undone_json)),
  before_json    TEXT    NOT NULL CHECK (json_valid(before_json)),
  ref_before     TEXT,
  ref_after      TEXT,
  state          TEXT    NOT NULL CHECK (state IN ('intent', 'done', 'undone')),
  created_at     INTEGER NOT NULL,                       -- ms since the Unix epoch, UTC
  undone_at      INTEGER
) STRICT;

INSERT INTO rewinds (rowid, id, thread_id, target_task_id, undone_json, before_json, ref_before, ref_after, state,
                     created_at, undone_at)
SELECT row, id, thread_id, target_task_id, undone_json, before_json, ref_before, ref_after, state, created_at, undone_at
FROM held_rewinds ORDER BY row;

CREATE INDEX rewinds_by_thread ON rewinds (thread_id, created_at);

-- Every question to a human, open or closed. Written by HitlSessionStore only. Source: 9_ROADMAP-REQ-006.
-- A session can be decided only when it is bound to an interrupt: then the output it is about is on disk.
CREATE TABLE hitl_sessions (
  id               TEXT    PRIMARY KEY NOT NULL,
  task_id          TEXT    NOT NULL,
  graph_state_json TEXT    NOT NULL,                     -- never logged; '{}' where checkpoint_id names the state
  suspended_at     INTEGER NOT NULL,                     -- ms since the Unix epoch, UTC
  resumed_at       INTEGER,
  status           TEXT    NOT NULL DEFAULT 'awaiting_approval' CHECK (status IN
    ('awaiting_approval', 'decided', 'resumed', 'superseded', 'cancelled')),
  kind             TEXT    NOT NULL DEFAULT 'task_failure', -- what an answer must be follows from it, in code
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

INSERT INTO hitl_sessions (rowid, id, task_id, graph_state_json, suspended_at, resumed_at, status, kind, thread_id,
                           interrupt_id, question_key, checkpoint_id, artifact_hash, question_json, evidence_json,
                           decision_json, principal_kind, principal_id, decided_at)
SELECT row, id, task_id, graph_state_json, suspended_at, resumed_at, status, kind, thread_id,
       interrupt_id, question_key, checkpoint_id, artifact_hash, question_json, evidence_json,
       decision_json, principal_kind, principal_id, decided_at
FROM held_sessions ORDER BY row;

CREATE INDEX hitl_sessions_open ON hitl_sessions (status, suspended_at);
CREATE INDEX hitl_sessions_by_key ON hitl_sessions (thread_id, question_key);

-- The decision log: append-only, each row chained to the one before by SHA-256. Written by DecisionLog only. A row
-- outlives its session: session_id refers to nothing once the run is deleted.
CREATE TABLE hitl_decisions (
  seq         INTEGER PRIMARY KEY,
  session_id  TEXT    NOT NULL,
  body_json   TEXT    NOT NULL CHECK (json_valid(body_json)), -- texts by their SHA-256, or as they are in older rows
  prev_sha256 TEXT    NOT NULL,                          -- 64 zeros for the first row
  sha256      TEXT    NOT NULL UNIQUE                    -- of prev_sha256, then body_json
) STRICT;

INSERT INTO hitl_decisions (seq, session_id, body_json, prev_sha256, sha256)
SELECT seq, session_id, body_json, prev_sha256, sha256 FROM held_decisions ORDER BY seq;

CREATE TRIGGER hitl_decisions_no_update BEFORE UPDATE ON hitl_decisions
BEGIN SELECT RAISE(ABORT, 'hitl_decisions is append-only'); END;

CREATE TRIGGER hitl_decisions_no_delete BEFORE DELETE ON hitl_decisions
BEGIN SELECT RAISE(ABORT, 'hitl_decisions is append-only'); END;

-- What deciders wrote, apart from the chain: it can be deleted with its run, and never edited. Written by
-- DecisionTextStore only.
CREATE TABLE decision_texts (
  sha256 TEXT PRIMARY KEY NOT NULL,                      -- hex, of text as UTF-8
  text   TEXT NOT NULL
) STRICT;

CREATE TRIGGER decision_texts_no_update BEFORE UPDATE ON decision_texts
BEGIN SELECT RAISE(ABORT, 'decision_texts are never edited'); END;

-- One row per task whose run was handed to a human because it stopped making progress.
-- Written by FailureGateStore only. Source: 9_ROADMAP-REQ-006.
CREATE TABLE hitl_failure_gates (
  id            TEXT    PRIMARY KEY NOT NULL,
  task_id       TEXT    NOT NULL UNIQUE,                 -- makes evaluate() idempotent
  entropy_score REAL    NOT NULL CHECK (entropy_score BETWEEN 0 AND 1),
  triggered_at  INTEGER NOT NULL,                        -- ms since the Unix epoch, UTC
  session_id    TEXT    NOT NULL,
  reason        TEXT    NOT NULL DEFAULT 'entropy_limit',
  FOREIGN KEY (session_id) REFERENCES hitl_sessions (id)
);

INSERT INTO hitl_failure_gates (rowid, id, task_id, entropy_score, triggered_at, session_id, reason)
SELECT row, id, task_id, entropy_score, triggered_at, session_id, reason FROM held_gates ORDER BY row;

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

INSERT INTO hitl_failure_gates_history (rowid, id, task_id, entropy_score, triggered_at, session_id, reason,
                                        resolved_at, resolution)
SELECT row, id, task_id, entropy_score, triggered_at, session_id, reason, resolved_at, resolution
FROM held_gates_history ORDER BY row;

CREATE INDEX hitl_failure_gates_history_by_task ON hitl_failure_gates_history (task_id);

-- How the result of a step is encoded; NULL: as JSON. Written by StepStore only.
ALTER TABLE agent_steps ADD COLUMN codec TEXT;

DROP TABLE held_threads;
DROP TABLE held_signals;
DROP TABLE held_rewinds;
DROP TABLE held_sessions;
DROP TABLE held_decisions;
DROP TABLE held_gates;
DROP TABLE held_gates_history;
