-- Rows that are missing, or lie under the key of another row, are found. What was written before this migration has none of
-- these sums and stays unchecked: a sum of what a file holds now would make damage look sound. A later migration that changes
-- what a sum covers sets it to NULL, or `sealed` to 0.

-- SHA-256 of the row's key and place in the order, its parent, its sha256, and of each channel by version that is not in the
-- checkpoint itself: its name, version, kind, SHA-256. Written by GraphCheckpointStore only.
ALTER TABLE checkpoints ADD COLUMN row_sha256 BLOB;
-- How many rows of checkpoint_writes are on top of it. Written by GraphCheckpointStore only.
ALTER TABLE checkpoints ADD COLUMN writes INTEGER;
-- 1 where sha256 is of the key, too, and of the columns beside the bytes. Written by GraphCheckpointStore only.
ALTER TABLE checkpoint_writes ADD COLUMN sealed INTEGER NOT NULL DEFAULT 0;

-- The first six bytes of sha256 as a number, plus blob_id: rows refer to blobs by their ids alone. Written by BlobStore only.
ALTER TABLE state_blobs ADD COLUMN seal INTEGER;

-- The first six bytes, as a number, of a SHA-256 of the row's key, of the SHA-256 of what it holds and of what says how to read
-- it. Each written by the class that writes the table.
ALTER TABLE agent_steps ADD COLUMN seal INTEGER;
ALTER TABLE thread_inputs ADD COLUMN seal INTEGER;
ALTER TABLE stream_events ADD COLUMN seal INTEGER;
ALTER TABLE store_items ADD COLUMN seal INTEGER;

-- SHA-256 of the other columns. Written by GitPackStore only.
ALTER TABLE git_packs ADD COLUMN sha256 BLOB;
-- The same, and of which parts of which packs there are. Written by GitPackStore only.
ALTER TABLE git_stands ADD COLUMN row_sha256 BLOB;

-- SHA-256 of the other columns but the order and the times. Written by WaitStore and ChildStore only.
ALTER TABLE waits ADD COLUMN row_sha256 BLOB;
ALTER TABLE child_runs ADD COLUMN row_sha256 BLOB;

-- How many items a namespace of the long-term store has; none of a namespace from before this migration. Written by StoreItems
-- only.
CREATE TABLE store_counts (
  namespace TEXT    PRIMARY KEY,                         -- as in store_items
  items     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
