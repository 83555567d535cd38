-- Deliveries of webhooks. Written by WebhookStore only. `position` is that of gate_events.
CREATE TABLE webhook_targets (
  target   TEXT    NOT NULL PRIMARY KEY,                 -- its name in the options of an app
  position INTEGER NOT NULL,                             -- every event up to it is queued, delivered or left out
  since    INTEGER NOT NULL                              -- ms since the Unix epoch, UTC; earlier events are left out
) STRICT, WITHOUT ROWID;

-- Events that a target has not taken yet. A delivered one has no row.
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

CREATE INDEX webhook_deliveries_to_send ON webhook_deliveries (target, thread_id, position) WHERE given_up_at IS NULL;
CREATE INDEX webhook_deliveries_of_run ON webhook_deliveries (thread_id);
