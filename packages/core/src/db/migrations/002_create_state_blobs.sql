-- Content-addressed bytes, shared by channel values, large pending writes and the journal. Written by BlobStore only.
-- A row is a full value (base_id NULL) or a splice: base[0, prefix) + bytes + base[size - suffix, size).
CREATE TABLE state_blobs (
  blob_id  INTEGER PRIMARY KEY,
  sha256   BLOB    NOT NULL UNIQUE CHECK (length(sha256) = 32),  -- of the whole decoded value
  size     INTEGER NOT NULL,                                     -- bytes of the whole decoded value
  encoding TEXT    NOT NULL CHECK (encoding IN ('raw', 'deflate')),
  base_id  INTEGER REFERENCES state_blobs (blob_id),
  prefix   INTEGER,
  suffix   INTEGER,
  bytes    BLOB    NOT NULL,
  CHECK ((base_id IS NULL) = (prefix IS NULL) AND (base_id IS NULL) = (suffix IS NULL))
) STRICT;

-- Finds the splices that rest on a value, before it is deleted.
CREATE INDEX state_blobs_by_base ON state_blobs (base_id) WHERE base_id IS NOT NULL;
