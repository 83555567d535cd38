-- LangGraph's resume data. Written by GraphCheckpointStore only. Newest = highest seq, never highest id:
-- checkpoint ids are made from the clock, and clocks step back. Rows are upserted, so a row keeps its seq.
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
  sha256               BLOB    NOT NULL,                 -- of checkpoint, then metadata
  UNIQUE (thread_id, checkpoint_ns, checkpoint_id)
) STRICT;

-- Ends with the rowid, as every index does: the newest row of a namespace is its last entry.
CREATE INDEX checkpoints_by_namespace ON checkpoints (thread_id, checkpoint_ns);

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
  sha256        BLOB    NOT NULL,                        -- of the bytes, wherever they are
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx),
  CHECK ((value IS NULL) <> (blob_id IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX checkpoint_writes_by_blob ON checkpoint_writes (blob_id) WHERE blob_id IS NOT NULL;

-- One value per channel version; a version that holds nothing has type 'empty' and no blob.
CREATE TABLE checkpoint_blobs (
  thread_id     TEXT    NOT NULL,
  checkpoint_ns TEXT    NOT NULL DEFAULT '',
  channel       TEXT    NOT NULL,
  version       TEXT    NOT NULL,
  type          TEXT    NOT NULL,
  blob_id       INTEGER REFERENCES state_blobs (blob_id),
  PRIMARY KEY (thread_id, checkpoint_ns, channel, version)
) STRICT, WITHOUT ROWID;

CREATE INDEX checkpoint_blobs_by_blob ON checkpoint_blobs (blob_id) WHERE blob_id IS NOT NULL;
