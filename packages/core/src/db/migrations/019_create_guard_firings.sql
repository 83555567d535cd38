-- What a guard of a run has fired for, so that its event is written once over kills and repeated executions.
-- Written by GuardStore only.
CREATE TABLE guard_firings (
  thread_id TEXT NOT NULL,
  firing    TEXT NOT NULL,                               -- event, measure, task and episode
  PRIMARY KEY (thread_id, firing)
) STRICT, WITHOUT ROWID;
