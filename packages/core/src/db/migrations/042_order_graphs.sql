-- The graphs that have driven runs of a file, in the order in which they came: an older one must not go on with a newer one's run.
-- Written by GraphOrderStore only.
CREATE TABLE graph_order (
  seq         INTEGER PRIMARY KEY,
  fingerprint TEXT    NOT NULL UNIQUE  -- SHA-256, hex
) STRICT;

INSERT INTO graph_order (fingerprint)
SELECT graph_fingerprint FROM threads GROUP BY graph_fingerprint ORDER BY min(created_at), min(rowid);
