-- Small channel values in their rows, ordered by version: a checkpoint then writes neighbouring rows of one table, where it
-- wrote a page per channel, one per index and one per blob. Written by GraphCheckpointStore only. The table is copied:
-- SQLite cannot change a primary key.
DROP INDEX checkpoint_blobs_by_blob;

CREATE TABLE checkpoint_blobs_next (
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

INSERT INTO checkpoint_blobs_next (thread_id, checkpoint_ns, version, channel, type, blob_id)
SELECT thread_id, checkpoint_ns, version, channel, type, blob_id
FROM checkpoint_blobs;

DROP TABLE checkpoint_blobs;
ALTER TABLE checkpoint_blobs_next RENAME TO checkpoint_blobs;

CREATE INDEX checkpoint_blobs_by_blob ON checkpoint_blobs (blob_id) WHERE blob_id IS NOT NULL;
