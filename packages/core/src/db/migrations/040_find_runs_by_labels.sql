-- Runs are found by their metadata and tags, and what was deleted is overwritten.

-- Written by RunLabelStore only.
CREATE TABLE run_labels (
  label      TEXT    NOT NULL,                           -- JSON: [tag], or [name, value] of a scalar in the metadata
  created_at INTEGER NOT NULL,                           -- of the run: ms since the Unix epoch, UTC
  thread_id  TEXT    NOT NULL REFERENCES threads (thread_id),
  PRIMARY KEY (label, created_at, thread_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_labels_of_run ON run_labels (thread_id);

-- Runs of before, from their first input, in which both are JSON.
INSERT OR IGNORE INTO run_labels (label, created_at, thread_id)
WITH given AS MATERIALIZED (
  SELECT t.created_at, t.thread_id, CAST(i.value AS TEXT) AS json
  FROM thread_inputs AS i JOIN threads AS t ON t.thread_id = i.thread_id
  WHERE i.turn = 1 AND i.type IN ('given:plain', 'given:tagged') AND typeof(i.value) = 'blob'
), options AS MATERIALIZED (
  SELECT created_at, thread_id, json_extract(json, '$.options.metadata') AS metadata,
         json_extract(json, '$.options.tags') AS tags
  FROM given WHERE json_valid(json)
)
SELECT '[' || json_quote(m.key) || ',' || iif(m.type = 'text', json_quote(m.value), options.metadata -> m.fullkey) || ']',
       options.created_at, options.thread_id
FROM options, json_each(options.metadata) AS m
WHERE json_type(options.metadata) = 'object' AND m.type NOT IN ('object', 'array')
UNION
SELECT json_array(t.value), options.created_at, options.thread_id
FROM options, json_each(options.tags) AS t
WHERE json_type(options.tags) = 'array' AND t.type = 'text';

-- A child run is found by what its parent is found by, unless it says something else itself. Parents come first.
INSERT OR IGNORE INTO run_labels (label, created_at, thread_id)
WITH RECURSIVE below (child_id, ancestor_id, depth) AS (
  SELECT child_id, parent_id, 1 FROM child_runs
  UNION SELECT b.child_id, c.parent_id, b.depth + 1 FROM below AS b JOIN child_runs AS c ON c.child_id = b.ancestor_id
  WHERE b.depth < 100
)
SELECT l.label, t.created_at, t.thread_id
FROM below AS b JOIN run_labels AS l ON l.thread_id = b.ancestor_id JOIN threads AS t ON t.thread_id = b.child_id
WHERE json_array_length(l.label) = 1 OR NOT EXISTS (
  SELECT 1 FROM below AS n JOIN run_labels AS own
    ON own.thread_id = n.ancestor_id AND json_array_length(own.label) = 2
  WHERE n.child_id = b.child_id AND n.depth < b.depth AND own.label ->> 0 = l.label ->> 0)
  AND NOT EXISTS (
  SELECT 1 FROM run_labels AS own
  WHERE own.thread_id = b.child_id AND json_array_length(own.label) = 2 AND own.label ->> 0 = l.label ->> 0);

-- One row where pages may have what was deleted before this migration: deleted bytes are overwritten since. Deleted by
-- rewriteFile only.
CREATE TABLE file_residue (
  id INTEGER PRIMARY KEY CHECK (id = 1)
) STRICT;

INSERT INTO file_residue (id)
SELECT 1 WHERE EXISTS (SELECT 1 FROM threads) OR EXISTS (SELECT 1 FROM events) OR EXISTS (SELECT 1 FROM store_items);
