-- Whether what a run is asked and told is compared as it was given.

-- 1 where it is. 0 in rows of before: an earlier release masked secrets before it recorded or hashed anything, and so are they in
-- whatever is compared with that. Written by ThreadStore only.
ALTER TABLE threads ADD COLUMN keeps_exactly INTEGER NOT NULL DEFAULT 0 CHECK (keeps_exactly IN (0, 1));
