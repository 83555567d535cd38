-- Positions of gate events, for who reads them with a cursor: a position is never given out twice, also after a run was deleted.
-- Written by EventStore only, in the transaction of the event. Events of before have none.
CREATE TABLE gate_events (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  seq      INTEGER NOT NULL UNIQUE REFERENCES events (seq) ON DELETE CASCADE
) STRICT;
