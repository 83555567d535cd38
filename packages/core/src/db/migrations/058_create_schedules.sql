-- Schedules that start runs. Written by ScheduleStore only. Times are ms since the Unix epoch, UTC.
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

CREATE INDEX schedules_due ON schedules (graph, next_at);
