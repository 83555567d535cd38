-- What git holds of a run, for who goes on with it on another machine: objects that rows of the same file name, and where its
-- refs and its folder stand. Empty in a local file, whose repository lies beside it. Written by GitPackStore only.
CREATE TABLE git_packs (
  thread_id TEXT    NOT NULL REFERENCES threads (thread_id),
  pack      INTEGER NOT NULL,                            -- from 1, never used again: it leans on those before it
  part      INTEGER NOT NULL,                            -- from 0: a pack is its parts in this order
  level     INTEGER NOT NULL,                            -- how often it was made of others
  tips      TEXT    NOT NULL,                            -- ids with a space between: it has all that they reach
  bytes     BLOB    NOT NULL,                            -- as `git index-pack --fix-thin` takes it
  PRIMARY KEY (thread_id, pack, part)
) STRICT;

CREATE TABLE git_stands (
  thread_id TEXT PRIMARY KEY REFERENCES threads (thread_id),
  refs_json TEXT NOT NULL,                               -- commit by name of its ref
  left_tree TEXT                                         -- as the engine left the folder; NULL before
) STRICT;
