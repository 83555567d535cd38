-- Where graphs that nodes of a run called under a thread_id of their own have their checkpoints.
-- These go with the last run that wrote there. Written by InnerThreadStore only.
CREATE TABLE inner_threads (
  run_id        TEXT NOT NULL,
  thread_id     TEXT NOT NULL,  -- of the graph inside; no run
  checkpoint_ns TEXT NOT NULL,
  PRIMARY KEY (thread_id, checkpoint_ns, run_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX inner_threads_by_run ON inner_threads (run_id);
