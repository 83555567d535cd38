-- A SHA-256 for every row of the turn journal: the state in it, or the manifest that leads to one, is checked when it
-- is read. Written by CheckpointPersister only. NULL in rows that an older engine wrote.
ALTER TABLE langgraph_checkpoints
  ADD COLUMN sha256 BLOB CHECK (sha256 IS NULL OR length(sha256) = 32); -- of serialized_state as UTF-8
