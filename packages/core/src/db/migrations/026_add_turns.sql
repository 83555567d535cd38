-- A run may be given more than one input: a turn each. Written by ThreadInputStore only, which knows the statuses.
DROP INDEX thread_inputs_by_thread;

-- The run's turns are counted from 1; its latest one stands as the run does.
ALTER TABLE thread_inputs ADD COLUMN turn INTEGER NOT NULL DEFAULT 1 CHECK (turn >= 1);

-- The caller's name of the turn: the same key is the same turn. Empty where a run was started without one.
ALTER TABLE thread_inputs ADD COLUMN turn_key TEXT NOT NULL DEFAULT '';

-- When the turn was recorded, and when the checkpoint that holds its input was, in ms since the Unix epoch, UTC. Of a first
-- turn the latter stays NULL: a run that has a checkpoint has taken it up.
ALTER TABLE thread_inputs ADD COLUMN begun_at INTEGER;
ALTER TABLE thread_inputs ADD COLUMN taken_at INTEGER;

-- How long the run had been driven when the turn was recorded, in ms.
ALTER TABLE thread_inputs ADD COLUMN driven_before INTEGER NOT NULL DEFAULT 0;

-- How the turn ended, and the run's last checkpoint then: written when the next turn is recorded.
ALTER TABLE thread_inputs ADD COLUMN ended_as TEXT;
ALTER TABLE thread_inputs ADD COLUMN ended_because TEXT;
ALTER TABLE thread_inputs ADD COLUMN end_checkpoint_id TEXT;

CREATE UNIQUE INDEX thread_inputs_by_turn ON thread_inputs (thread_id, turn);
CREATE UNIQUE INDEX thread_inputs_by_key ON thread_inputs (thread_id, turn_key);

-- The turn in which a step was begun first: budgets count by turn. Written by StepStore only.
ALTER TABLE agent_steps ADD COLUMN turn INTEGER NOT NULL DEFAULT 1;

DROP INDEX agent_steps_spending;

CREATE INDEX agent_steps_spending ON agent_steps
  (thread_id, turn, task_id, state, failures, tokens_in, tokens_out, cost_usd, reserved_usd, reserved_tokens)
  WHERE kind = 'call';
