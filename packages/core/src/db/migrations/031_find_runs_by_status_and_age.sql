-- Finding runs among many, page by page, without looking at the others.

-- When the run ended, in ms since the Unix epoch, UTC; NULL while it has not. Written by ThreadStore only.
ALTER TABLE threads ADD COLUMN ended_at INTEGER;

UPDATE threads SET ended_at = coalesce(
  (SELECT max(at) FROM events WHERE events.thread_id = threads.thread_id AND events.name = 'RUN_FINISHED'), updated_at)
WHERE status IN ('completed', 'failed', 'cancelled', 'dead_letter');

CREATE INDEX threads_by_status ON threads (status, created_at, thread_id);
CREATE INDEX threads_by_graph ON threads (graph_fingerprint, status, created_at, thread_id);
CREATE INDEX threads_ended ON threads (ended_at, thread_id) WHERE ended_at IS NOT NULL AND workspace IS NULL;

-- What would go on if somebody drove it: begun, left by its driver, stopped with its process, or woken since it was left.
CREATE INDEX threads_due ON threads (created_at, thread_id)
  WHERE status IN ('created', 'running') OR (status = 'paused' AND reason = 'asked to stop')
    OR (status IN ('waiting', 'paused') AND wake_seq > handled_seq);
