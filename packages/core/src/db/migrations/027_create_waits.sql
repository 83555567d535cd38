-- What a run waits for that is no human: an hour, a named signal. Written by WaitStore only, which knows the purposes.
CREATE TABLE waits (
  seq          INTEGER PRIMARY KEY,                      -- the order in which they began
  thread_id    TEXT    NOT NULL REFERENCES threads (thread_id),
  place        TEXT    NOT NULL,                         -- LangGraph's task id, and the place inside; or the gate it is for
  name         TEXT    NOT NULL,                         -- which of the waits in that place
  purpose      TEXT    NOT NULL,
  subject      TEXT,                                     -- what comes, by its name; NULL where only time can pass
  interrupt_id TEXT    NOT NULL,                         -- of the question that LangGraph is left with
  due_at       INTEGER,                                  -- ms since the Unix epoch, UTC; NULL: never by itself
  state        TEXT    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'due', 'met', 'void')),
  met_by       TEXT,                                     -- the row that came
  created_at   INTEGER NOT NULL,                         -- ms since the Unix epoch, UTC
  ended_at     INTEGER,
  UNIQUE (thread_id, place, name),
  CHECK ((state = 'met') = (met_by IS NOT NULL))
) STRICT;

CREATE INDEX waits_by_due ON waits (due_at) WHERE state = 'pending';
CREATE INDEX waits_by_interrupt ON waits (thread_id, interrupt_id);

-- Signals of a run that nobody has taken. Written by SignalStore only.
CREATE INDEX signals_untaken ON signals (thread_id, seq) WHERE consumed_at IS NULL;
