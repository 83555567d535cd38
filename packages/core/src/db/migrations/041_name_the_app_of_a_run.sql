-- Which app a run is of, where several graphs share a file.

-- The `graphName` of policies_json, for queries; NULL where the run was recorded by an app without a name, or by an earlier release.
-- Written by ThreadStore only.
ALTER TABLE threads ADD COLUMN graph_name TEXT;

UPDATE threads SET graph_name = policies_json ->> '$.graphName' WHERE policies_json ->> '$.graphName' IS NOT NULL;

CREATE INDEX threads_by_name ON threads (graph_fingerprint, graph_name) WHERE graph_name IS NOT NULL;
