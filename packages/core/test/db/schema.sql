CREATE TRIGGER decision_texts_no_update BEFORE UPDATE ON decision_texts
BEGIN SELECT RAISE(ABORT, 'decision_texts are never edited'); END;

CREATE TRIGGER hitl_decisions_no_delete BEFORE DELETE ON hitl_decisions
BEGIN SELECT RAISE(ABORT, 'hitl_decisions is append-only'); END;

CREATE TRIGGER hitl_decisions_no_update BEFORE UPDATE ON hitl_decisions
BEGIN SELECT RAISE(ABORT, 'hitl_decisions is append-only'); END;

CREATE TRIGGER journal_values_delete AFTER DELETE ON langgraph_checkpoints
WHEN OLD.serialized_state LIKE '{"$devs":%' AND json_valid(OLD.serialized_state)
BEGIN
  DELETE FROM journal_values
  WHERE turn_id = OLD.id AND blob_id IN (
    SELECT value FROM json_each(OLD.serialized_state, '$.channels') WHERE type = 'integer');
END;

CREATE TRIGGER journal_values_insert AFTER INSERT ON langgraph_checkpoints
WHEN NEW.serialized_state LIKE '{"$devs":%'
BEGIN
  INSERT INTO journal_values (blob_id, turn_id)
  SELECT DISTINCT value, NEW.id FROM json_each(NEW.serialized_state, '$.channels') WHERE type = 'integer';
END;

CREATE TRIGGER step_spending_update AFTER UPDATE OF state ON agent_steps
WHEN NEW.kind = 'call' AND NEW.state <> 'intent'
BEGIN
  INSERT INTO step_spending (thread_id, turn, task_id, calls, requests, tokens_in, tokens_out, usd, reported, unpriced,
                             largest_usd, largest_tokens, largest_requests)
  SELECT NEW.thread_id, NEW.turn, scope.task_id,
         NEW.failures - iif(OLD.kind = 'call', OLD.failures, 0) + (NEW.state = 'done'),
         NEW.requests - iif(OLD.kind = 'call', OLD.requests, 0),
         coalesce(NEW.tokens_in, 0) - coalesce(OLD.tokens_in, 0),
         coalesce(NEW.tokens_out, 0) - coalesce(OLD.tokens_out, 0),
         coalesce(coalesce(NEW.cost_usd, 0.0) - coalesce(OLD.cost_usd, 0.0), 0.0),
         NEW.state = 'done' AND coalesce(NEW.tokens_in, NEW.tokens_out, NEW.cost_usd) IS NOT NULL,
         NEW.state = 'done' AND (NEW.cost_usd IS NULL OR NEW.unpriced > 0),
         iif(NEW.state = 'done', coalesce(NEW.cost_usd, 0.0), 0.0),
         iif(NEW.state = 'done', coalesce(NEW.tokens_in, 0) + coalesce(NEW.tokens_out, 0), 0),
         iif(NEW.state = 'done', max(NEW.requests, 1), 1)
  FROM (SELECT '' AS task_id UNION ALL SELECT NEW.task_id WHERE NEW.task_id <> '') AS scope
  WHERE true
  ON CONFLICT (thread_id, turn, task_id) DO UPDATE SET
    calls = calls + excluded.calls,
    requests = requests + excluded.requests,
    tokens_in = tokens_in + excluded.tokens_in,
    tokens_out = tokens_out + excluded.tokens_out,
    usd_rest = coalesce(usd_rest + iif(abs(usd) >= abs(excluded.usd),
                                       usd - (usd + excluded.usd) + excluded.usd,
                                       excluded.usd - (usd + excluded.usd) + usd), 0.0),
    usd = usd + excluded.usd,
    reported = reported + excluded.reported,
    unpriced = unpriced + excluded.unpriced,
    largest_usd = max(largest_usd, excluded.largest_usd),
    largest_tokens = max(largest_tokens, excluded.largest_tokens),
    largest_requests = max(largest_requests, excluded.largest_requests);
END;

CREATE TABLE "agent_steps" (
  thread_id   TEXT    NOT NULL,
  lg_task_id  TEXT    NOT NULL,                          -- LangGraph's task id: one visit of one node
  name        TEXT    NOT NULL,
  node        TEXT    NOT NULL,
  task_id     TEXT,
  kind        TEXT    NOT NULL DEFAULT 'call' CHECK (kind IN ('call', 'work')),
  state       TEXT    NOT NULL CHECK (state IN ('intent', 'failed', 'done')),
  attempt     INTEGER NOT NULL DEFAULT 1,                -- how often the call was begun
  failures    INTEGER NOT NULL DEFAULT 0,                -- how often it threw
  result_json TEXT    CHECK (result_json IS NULL OR json_valid(result_json)),
  blob_id     INTEGER REFERENCES state_blobs (blob_id),  -- instead of result_json where the result is large
  result_sha256 TEXT,                                    -- hex, of result_json: a flipped bit must not be replayed
  tokens_in   INTEGER,                                   -- of every attempt that reported
  tokens_out  INTEGER,
  cost_usd    REAL,
  unpriced    INTEGER NOT NULL DEFAULT 0,                -- reports whose cost is unknown
  reserved_usd    REAL    NOT NULL DEFAULT 0,            -- while it is an intent
  reserved_tokens INTEGER NOT NULL DEFAULT 0,
  started_at  INTEGER NOT NULL,                          -- ms since the Unix epoch, UTC
  finished_at INTEGER, codec TEXT, turn INTEGER NOT NULL DEFAULT 1, seal INTEGER, requests INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (thread_id, lg_task_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE "checkpoint_blobs" (
  thread_id     TEXT    NOT NULL,
  checkpoint_ns TEXT    NOT NULL DEFAULT '',
  version       TEXT    NOT NULL,                        -- begins with the number of its super-step
  channel       TEXT    NOT NULL,
  type          TEXT    NOT NULL,                        -- 'empty' where the channel holds nothing
  value         BLOB,                                    -- NULL where blob_id names the bytes
  sha256        BLOB    CHECK ((value IS NULL) = (sha256 IS NULL)),
  blob_id       INTEGER REFERENCES state_blobs (blob_id),
  PRIMARY KEY (thread_id, checkpoint_ns, version, channel),
  CHECK (value IS NULL OR blob_id IS NULL)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoint_writes (
  thread_id     TEXT    NOT NULL,
  checkpoint_ns TEXT    NOT NULL DEFAULT '',
  checkpoint_id TEXT    NOT NULL,
  task_id       TEXT    NOT NULL,
  idx           INTEGER NOT NULL,                        -- negative for LangGraph's own channels
  task_path     TEXT    NOT NULL DEFAULT '',
  channel       TEXT    NOT NULL,
  type          TEXT    NOT NULL,
  value         BLOB,                                    -- NULL where blob_id names the bytes
  blob_id       INTEGER REFERENCES state_blobs (blob_id),
  sha256        BLOB    NOT NULL, sealed INTEGER NOT NULL DEFAULT 0,                        -- of the bytes, wherever they are
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx),
  CHECK ((value IS NULL) <> (blob_id IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoints (
  seq                  INTEGER PRIMARY KEY,
  thread_id            TEXT    NOT NULL,
  checkpoint_ns        TEXT    NOT NULL DEFAULT '',
  checkpoint_id        TEXT    NOT NULL,
  parent_checkpoint_id TEXT,
  type                 TEXT    NOT NULL,
  checkpoint           BLOB    NOT NULL,                 -- without the channel values kept in checkpoint_blobs
  metadata_type        TEXT    NOT NULL,
  metadata             BLOB    NOT NULL,
  sha256               BLOB    NOT NULL, row_sha256 BLOB, writes INTEGER,                 -- of checkpoint, then metadata
  UNIQUE (thread_id, checkpoint_ns, checkpoint_id)
) STRICT;

CREATE TABLE child_runs (
  child_id          TEXT    PRIMARY KEY REFERENCES threads (thread_id),
  parent_id         TEXT    NOT NULL REFERENCES threads (thread_id), -- for ever: a child has one parent
  turn              INTEGER NOT NULL,                                -- of the parent: budgets count by turn
  begun_at          INTEGER NOT NULL,                                -- ms since the Unix epoch, UTC
  ended_as          TEXT,                                            -- how its parent was told that it ended; NULL until then
  ended_because     TEXT,
  end_checkpoint_id TEXT, row_sha256 BLOB,                                            -- the values that its parent was given
  CHECK (child_id <> parent_id)
) STRICT;

CREATE TABLE decision_log_end (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  lines  INTEGER NOT NULL,
  sha256 TEXT    NOT NULL                                -- 64 zeros where there is no line
) STRICT;

CREATE TABLE decision_texts (
  sha256 TEXT PRIMARY KEY NOT NULL,                      -- hex, of text as UTF-8
  text   TEXT NOT NULL
) STRICT;

CREATE TABLE driven_time (
  thread_id TEXT    NOT NULL,
  task_id   TEXT    NOT NULL,                            -- empty outside a task
  ms        INTEGER NOT NULL,
  PRIMARY KEY (thread_id, task_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  seq          INTEGER PRIMARY KEY,
  thread_id    TEXT,
  at           INTEGER NOT NULL,                         -- ms since the Unix epoch, UTC
  name         TEXT    NOT NULL,
  task_id      TEXT,
  payload_json TEXT    NOT NULL CHECK (json_valid(payload_json))
) STRICT;

CREATE TABLE file_residue (
  id INTEGER PRIMARY KEY CHECK (id = 1)
) STRICT;

CREATE TABLE gate_events (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  seq      INTEGER NOT NULL UNIQUE REFERENCES events (seq) ON DELETE CASCADE
) STRICT;

CREATE TABLE git_packs (
  thread_id TEXT    NOT NULL REFERENCES threads (thread_id),
  pack      INTEGER NOT NULL,                            -- from 1, never used again: it leans on those before it
  part      INTEGER NOT NULL,                            -- from 0: a pack is its parts in this order
  level     INTEGER NOT NULL,                            -- how often it was made of others
  tips      TEXT    NOT NULL,                            -- ids with a space between: it has all that they reach
  bytes     BLOB    NOT NULL, sha256 BLOB,                            -- as `git index-pack --fix-thin` takes it
  PRIMARY KEY (thread_id, pack, part)
) STRICT;

CREATE TABLE git_stands (
  thread_id TEXT PRIMARY KEY REFERENCES threads (thread_id),
  refs_json TEXT NOT NULL,                               -- commit by name of its ref
  left_tree TEXT                                         -- as the engine left the folder; NULL before
, row_sha256 BLOB) STRICT;

CREATE TABLE graph_order (
  seq         INTEGER PRIMARY KEY,
  fingerprint TEXT    NOT NULL UNIQUE  -- SHA-256, hex
) STRICT;

CREATE TABLE guard_firings (
  thread_id TEXT NOT NULL,
  firing    TEXT NOT NULL,                               -- event, measure, task and episode
  PRIMARY KEY (thread_id, firing)
) STRICT, WITHOUT ROWID;

CREATE TABLE hitl_decisions (
  seq         INTEGER PRIMARY KEY,
  session_id  TEXT    NOT NULL,
  body_json   TEXT    NOT NULL CHECK (json_valid(body_json)), -- texts by their SHA-256, or as they are in older rows
  prev_sha256 TEXT    NOT NULL,                          -- 64 zeros for the first row
  sha256      TEXT    NOT NULL UNIQUE                    -- of prev_sha256, then body_json
) STRICT;

CREATE TABLE hitl_failure_gates (
  id            TEXT    PRIMARY KEY NOT NULL,
  task_id       TEXT    NOT NULL UNIQUE,                 -- makes evaluate() idempotent
  entropy_score REAL    NOT NULL CHECK (entropy_score BETWEEN 0 AND 1),
  triggered_at  INTEGER NOT NULL,                        -- ms since the Unix epoch, UTC
  session_id    TEXT    NOT NULL,
  reason        TEXT    NOT NULL DEFAULT 'entropy_limit',
  FOREIGN KEY (session_id) REFERENCES hitl_sessions (id)
);

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
  decided_at       INTEGER, row_sha256 BLOB,
  UNIQUE (thread_id, interrupt_id)
);

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

CREATE TABLE inner_threads (
  run_id        TEXT NOT NULL,
  thread_id     TEXT NOT NULL,  -- of the graph inside; no run
  checkpoint_ns TEXT NOT NULL,
  PRIMARY KEY (thread_id, checkpoint_ns, run_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal_values (
  blob_id INTEGER NOT NULL,
  turn_id TEXT    NOT NULL,                              -- langgraph_checkpoints.id
  PRIMARY KEY (blob_id, turn_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE langgraph_checkpoints (
  id               TEXT PRIMARY KEY NOT NULL,
  graph_id         TEXT NOT NULL,                        -- the run's thread id
  node_name        TEXT NOT NULL,
  turn_type        TEXT NOT NULL CHECK (turn_type IN ('Thought', 'Action')),
  serialized_state TEXT NOT NULL CHECK (json_valid(serialized_state)),
  task_id          TEXT NOT NULL,                        -- the project's id where a node has no task
  created_at       TEXT NOT NULL,                        -- ISO 8601, UTC
  visit            TEXT                                  -- LangGraph's task id; pairs the two turns of a node
, sha256 BLOB CHECK (sha256 IS NULL OR length(sha256) = 32));

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

CREATE TABLE run_labels (
  label      TEXT    NOT NULL,                           -- JSON: [tag], or [name, value] of a scalar in the metadata
  created_at INTEGER NOT NULL,                           -- of the run: ms since the Unix epoch, UTC
  thread_id  TEXT    NOT NULL REFERENCES threads (thread_id),
  PRIMARY KEY (label, created_at, thread_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE schedules (
  id         TEXT    NOT NULL PRIMARY KEY,
  graph      TEXT    NOT NULL,                           -- name of the app that starts its runs; empty for an unnamed one
  when_json  TEXT    NOT NULL,                           -- cron or every, time zone, overlap, thread, end
  given_json TEXT    NOT NULL,                           -- input and options of each run
  created_at INTEGER NOT NULL,
  next_at    INTEGER,                                    -- of the next firing; NULL after the last
  firing_at  INTEGER,                                    -- a process starts the run of this firing, or has died with it
  last_at    INTEGER,                                    -- of the last firing that started a run
  last_run   TEXT,
  error      TEXT                                        -- of the last firing, masked
) STRICT, WITHOUT ROWID;

CREATE TABLE signals (
  id           TEXT    PRIMARY KEY NOT NULL,
  thread_id    TEXT    NOT NULL REFERENCES threads (thread_id),
  seq          INTEGER NOT NULL,                         -- the run's wake_seq this signal raised
  kind         TEXT    NOT NULL,
  payload_json TEXT    NOT NULL CHECK (json_valid(payload_json)),
  created_at   INTEGER NOT NULL,
  consumed_at  INTEGER, row_sha256 BLOB,
  UNIQUE (thread_id, seq)
) STRICT;

CREATE TABLE state_blobs (
  blob_id  INTEGER PRIMARY KEY,
  sha256   BLOB    NOT NULL UNIQUE CHECK (length(sha256) = 32),  -- of the whole decoded value
  size     INTEGER NOT NULL,                                     -- bytes of the whole decoded value
  encoding TEXT    NOT NULL CHECK (encoding IN ('raw', 'deflate')),
  base_id  INTEGER REFERENCES state_blobs (blob_id),
  prefix   INTEGER,
  suffix   INTEGER,
  bytes    BLOB    NOT NULL, seal INTEGER,
  CHECK ((base_id IS NULL) = (prefix IS NULL) AND (base_id IS NULL) = (suffix IS NULL))
) STRICT;

CREATE TABLE state_file (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  file_id TEXT    NOT NULL CHECK (length(file_id) = 64)  -- hex
) STRICT;

CREATE TABLE step_spending (
  thread_id      TEXT    NOT NULL,
  turn           INTEGER NOT NULL,
  task_id        TEXT    NOT NULL,                       -- '' : of the whole turn
  calls          INTEGER NOT NULL,                       -- that have ended, each time they did
  tokens_in      INTEGER NOT NULL,
  tokens_out     INTEGER NOT NULL,
  usd            REAL    NOT NULL,
  usd_rest       REAL    NOT NULL DEFAULT 0,             -- what usd has lost by rounding: ten times 0.1 is 1
  reported       INTEGER NOT NULL,                       -- steps that are done and said what they cost
  unpriced       INTEGER NOT NULL,                       -- steps that are done and whose cost is unknown, or a part of it
  largest_usd    REAL    NOT NULL,                       -- of a step that is done
  largest_tokens INTEGER NOT NULL, requests INTEGER NOT NULL DEFAULT 0, largest_requests INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (thread_id, turn, task_id)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE store_counts (
  namespace TEXT    PRIMARY KEY,                         -- as in store_items
  items     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE store_items (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,          -- never used again: an item that is put anew comes last
  namespace  TEXT    NOT NULL,                           -- its labels with a colon between, which no label has
  born       INTEGER NOT NULL,                           -- the same for all items of a namespace: they come in its order
  key        TEXT    NOT NULL,
  value_json TEXT    NOT NULL,                           -- plain JSON: an object
  created_at INTEGER NOT NULL,                           -- ms since the Unix epoch, UTC
  updated_at INTEGER NOT NULL,                           -- ms since the Unix epoch, UTC
  row_sha256 BLOB    NOT NULL                            -- of the other columns
, seal INTEGER) STRICT;

CREATE TABLE stream_events (
  thread_id   TEXT    NOT NULL,
  seq         INTEGER NOT NULL CHECK (seq > 0),          -- of the run; the newest row is never deleted, so none is used again
  mode        TEXT    NOT NULL CHECK (mode IN ('updates', 'values', 'custom', 'gate', 'end')),
  ns          TEXT    NOT NULL,                          -- LangGraph's namespace of the graph it is of; '' for the run's own
  scope       TEXT,                                      -- what it is told once in: a task, a checkpoint, a gate
  ordinal     INTEGER,                                   -- from 0, in the scope
  refers_json TEXT,                                      -- where in the file it is
  type        TEXT,                                      -- of the serialized value
  value       BLOB,                                      -- masked
  sha256      BLOB, seal INTEGER,
  PRIMARY KEY (thread_id, seq),
  CHECK ((scope IS NULL) = (ordinal IS NULL)),
  CHECK ((refers_json IS NULL) = (value IS NOT NULL AND type IS NOT NULL AND sha256 IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE thread_inputs (
  thread_id TEXT NOT NULL REFERENCES threads (thread_id),
  type      TEXT NOT NULL,                               -- the serializer's name of the form, such as 'json'
  value     ANY  NOT NULL,                               -- the bytes; their base64 in rows of an older engine
  sha256    BLOB CHECK (sha256 IS NULL OR length(sha256) = 32), turn INTEGER NOT NULL DEFAULT 1 CHECK (turn >= 1), turn_key TEXT NOT NULL DEFAULT '', begun_at INTEGER, taken_at INTEGER, driven_before INTEGER NOT NULL DEFAULT 0, ended_as TEXT, ended_because TEXT, end_checkpoint_id TEXT, seal INTEGER, -- of the bytes
  CHECK (typeof(value) = iif(sha256 IS NULL, 'text', 'blob'))
) STRICT;

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
, declared_sha256 BLOB, worked_epoch INTEGER, recovery_counted_at INTEGER, ended_at INTEGER, keeps_exactly INTEGER NOT NULL DEFAULT 0 CHECK (keeps_exactly IN (0, 1)), graph_name TEXT) STRICT;

CREATE TABLE waits (
  seq          INTEGER PRIMARY KEY,                      -- the order in which they began
  thread_id    TEXT    NOT NULL REFERENCES threads (thread_id),
  place        TEXT    NOT NULL,                         -- LangGraph's task id, and the place inside; or the gate it is for
  name         TEXT    NOT NULL,                         -- which of the waits in that place
  purpose      TEXT    NOT NULL,
  subject      TEXT,                                     -- what comes, by its name; NULL where only time can pass
  interrupt_id TEXT    NOT NULL,                         -- of the question that LangGraph is left with
  due_at       INTEGER,                                  -- ms since the Unix epoch, UTC; NULL: never by itself
  state        TEXT    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'due', 'met', 'void')),
  met_by       TEXT,                                     -- the row that came
  created_at   INTEGER NOT NULL,                         -- ms since the Unix epoch, UTC
  ended_at     INTEGER, row_sha256 BLOB,
  UNIQUE (thread_id, place, name),
  CHECK ((state = 'met') = (met_by IS NOT NULL))
) STRICT;

CREATE TABLE webhook_deliveries (
  target      TEXT    NOT NULL,
  position    INTEGER NOT NULL,
  thread_id   TEXT    NOT NULL,
  event_json  TEXT    NOT NULL,
  attempts    INTEGER NOT NULL DEFAULT 0,
  first_at    INTEGER,                                   -- of the first attempt; ms since the Unix epoch, UTC
  next_at     INTEGER NOT NULL,                          -- before it nobody attempts it; ms since the Unix epoch, UTC
  given_up_at INTEGER,                                   -- ms since the Unix epoch, UTC
  error       TEXT,                                      -- of the last attempt, masked
  PRIMARY KEY (target, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_targets (
  target   TEXT    NOT NULL PRIMARY KEY,                 -- its name in the options of an app
  position INTEGER NOT NULL,                             -- every event up to it is queued, delivered or left out
  since    INTEGER NOT NULL                              -- ms since the Unix epoch, UTC; earlier events are left out
) STRICT, WITHOUT ROWID;

CREATE INDEX agent_steps_by_blob ON agent_steps (blob_id) WHERE blob_id IS NOT NULL;

CREATE INDEX agent_steps_in_flight ON agent_steps (thread_id, turn, task_id, reserved_usd, reserved_tokens)
  WHERE state = 'intent' AND kind = 'call';

CREATE INDEX checkpoint_blobs_by_blob ON checkpoint_blobs (blob_id) WHERE blob_id IS NOT NULL;

CREATE INDEX checkpoint_writes_by_blob ON checkpoint_writes (blob_id) WHERE blob_id IS NOT NULL;

CREATE INDEX checkpoints_by_namespace ON checkpoints (thread_id, checkpoint_ns);

CREATE INDEX child_runs_by_parent ON child_runs (parent_id);

CREATE INDEX events_by_thread ON events (thread_id, seq);

CREATE INDEX events_rare ON events (thread_id, name, seq) WHERE name IN ('GATE_SHOWN', 'RUN_SYNCED');

CREATE INDEX hitl_decisions_by_session ON hitl_decisions (session_id);

CREATE INDEX hitl_failure_gates_by_session ON hitl_failure_gates (session_id);

CREATE INDEX hitl_failure_gates_history_by_session ON hitl_failure_gates_history (session_id);

CREATE INDEX hitl_failure_gates_history_by_task ON hitl_failure_gates_history (task_id);

CREATE INDEX hitl_sessions_answered ON hitl_sessions (thread_id, kind, suspended_at) WHERE decision_json IS NOT NULL;

CREATE INDEX hitl_sessions_by_human ON hitl_sessions (thread_id, checkpoint_id)
  WHERE decided_at IS NOT NULL AND principal_kind = 'human';

CREATE INDEX hitl_sessions_by_key ON hitl_sessions (thread_id, question_key);

CREATE INDEX hitl_sessions_of_run ON hitl_sessions (thread_id, status, suspended_at);

CREATE INDEX hitl_sessions_open ON hitl_sessions (status, suspended_at);

CREATE INDEX hitl_sessions_unsealed ON hitl_sessions (id) WHERE row_sha256 = x'';

CREATE INDEX inner_threads_by_run ON inner_threads (run_id);

CREATE INDEX langgraph_checkpoints_by_graph ON langgraph_checkpoints (graph_id);

CREATE INDEX langgraph_checkpoints_by_task ON langgraph_checkpoints (task_id);

CREATE UNIQUE INDEX queued_turns_by_key ON queued_turns (thread_id, turn_key);

CREATE INDEX rewinds_by_thread ON rewinds (thread_id, created_at);

CREATE INDEX run_labels_of_run ON run_labels (thread_id);

CREATE INDEX schedules_due ON schedules (graph, next_at);

CREATE INDEX signals_unhandled ON signals (thread_id, kind, seq) WHERE consumed_at IS NULL;

CREATE INDEX state_blobs_by_base ON state_blobs (base_id) WHERE base_id IS NOT NULL;

CREATE INDEX step_transcripts_by_blob ON step_transcripts (blob_id);

CREATE INDEX step_transcripts_by_thread ON step_transcripts (thread_id, seq);

CREATE UNIQUE INDEX store_items_by_key ON store_items (namespace, key);

CREATE INDEX store_items_in_order ON store_items (namespace, seq, born);

CREATE UNIQUE INDEX stream_events_once ON stream_events (thread_id, scope, ordinal) WHERE scope IS NOT NULL;

CREATE UNIQUE INDEX thread_inputs_by_key ON thread_inputs (thread_id, turn_key);

CREATE UNIQUE INDEX thread_inputs_by_turn ON thread_inputs (thread_id, turn);

CREATE INDEX threads_by_age ON threads (created_at);

CREATE INDEX threads_by_graph ON threads (graph_fingerprint, status, created_at, thread_id);

CREATE INDEX threads_by_name ON threads (graph_fingerprint, graph_name) WHERE graph_name IS NOT NULL;

CREATE INDEX threads_by_status ON threads (status, created_at, thread_id);

CREATE INDEX threads_due ON threads (created_at, thread_id)
  WHERE status IN ('created', 'running') OR (status = 'paused' AND reason = 'asked to stop')
    OR (status IN ('waiting', 'paused') AND wake_seq > handled_seq);

CREATE INDEX threads_ended ON threads (ended_at, thread_id) WHERE ended_at IS NOT NULL AND workspace IS NULL;

CREATE UNIQUE INDEX threads_live_workspace ON threads (workspace)
  WHERE workspace IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled', 'dead_letter');

CREATE INDEX waits_by_due ON waits (due_at) WHERE state = 'pending';

CREATE INDEX waits_by_interrupt ON waits (thread_id, interrupt_id);

CREATE INDEX webhook_deliveries_of_run ON webhook_deliveries (thread_id);

CREATE INDEX webhook_deliveries_to_send ON webhook_deliveries (target, thread_id, position) WHERE given_up_at IS NULL;
