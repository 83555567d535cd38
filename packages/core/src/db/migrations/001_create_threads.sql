-- The truth about a run, written before its graph is called. Written by ThreadStore only.
CREATE TABLE threads (
  thread_id          TEXT    PRIMARY KEY NOT NULL,
  project_id         TEXT    NOT NULL,
  workspace          TEXT,                               -- folder of the run's clone; NULL without one
  brief_sha256       TEXT,
  graph_fingerprint  TEXT    NOT NULL,
  policies_json      TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(policies_json)),
  status             TEXT    NOT NULL DEFAULT 'created' CHECK (status IN
    ('created', 'running', 'waiting', 'paused', 'completed', 'failed', 'cancelled', 'dead_letter')),
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

-- Two live runs never share a working folder.
CREATE UNIQUE INDEX threads_live_workspace ON threads (workspace)
  WHERE workspace IS NOT NULL AND status NOT IN ('completed', 'failed', 'cancelled', 'dead_letter');

-- Recorded requests to a run; kept after they were handled.
CREATE TABLE signals (
  id           TEXT    PRIMARY KEY NOT NULL,
  thread_id    TEXT    NOT NULL REFERENCES threads (thread_id),
  seq          INTEGER NOT NULL,                         -- the run's wake_seq this signal raised
  kind         TEXT    NOT NULL CHECK (kind IN ('decision', 'pause', 'resume', 'cancel', 'rewind', 'timeout')),
  payload_json TEXT    NOT NULL CHECK (json_valid(payload_json)),
  created_at   INTEGER NOT NULL,
  consumed_at  INTEGER,
  UNIQUE (thread_id, seq)
) STRICT;
