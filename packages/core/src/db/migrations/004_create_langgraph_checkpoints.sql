-- The turn journal: one row before a node works ("Thought") and one after ("Action"). Written by
-- CheckpointPersister only. Source: 9_ROADMAP-REQ-014. LangGraph's own resume data is in `checkpoints`.
CREATE TABLE IF NOT EXISTS langgraph_checkpoints (
  id               TEXT PRIMARY KEY NOT NULL,
  graph_id         TEXT NOT NULL,                        -- the run's thread id
  node_name        TEXT NOT NULL,
  turn_type        TEXT NOT NULL CHECK (turn_type IN ('Thought', 'Action')),
  serialized_state TEXT NOT NULL CHECK (json_valid(serialized_state)),
  task_id          TEXT NOT NULL,                        -- the project's id where a node has no task
  created_at       TEXT NOT NULL,                        -- ISO 8601, UTC
  visit            TEXT                                  -- LangGraph's task id; pairs the two turns of a node
);

CREATE INDEX langgraph_checkpoints_by_graph ON langgraph_checkpoints (graph_id);
CREATE INDEX langgraph_checkpoints_by_task ON langgraph_checkpoints (task_id);
