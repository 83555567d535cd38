-- Items of the long-term store: what graphs keep beyond a run, masked, under a namespace and a key. Written by StoreItems
-- only. They are of no run: deleting one leaves them.
CREATE TABLE store_items (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,          -- never used again: an item that is put anew comes last
  namespace  TEXT    NOT NULL,                           -- its labels with a colon between, which no label has
  born       INTEGER NOT NULL,                           -- the same for all items of a namespace: they come in its order
  key        TEXT    NOT NULL,
  value_json TEXT    NOT NULL,                           -- plain JSON: an object
  created_at INTEGER NOT NULL,                           -- ms since the Unix epoch, UTC
  updated_at INTEGER NOT NULL,                           -- ms since the Unix epoch, UTC
  row_sha256 BLOB    NOT NULL                            -- of the other columns
) STRICT;

CREATE UNIQUE INDEX store_items_by_key ON store_items (namespace, key);
CREATE INDEX store_items_in_order ON store_items (namespace, seq, born);
