-- What the calls of a turn have cost, so that a call reads a sum instead of every call before it. Kept by the trigger below, in
-- the transaction that ends a step; read by StepStore. What is held back for calls in flight is in their own rows.
CREATE TABLE step_spending (
  thread_id      TEXT    NOT NULL,
  turn           INTEGER NOT NULL,
  task_id        TEXT    NOT NULL,                       -- '' : of the whole turn
  calls          INTEGER NOT NULL,                       -- that have ended, each time they did
  tokens_in      INTEGER NOT NULL,
  tokens_out     INTEGER NOT NULL,
  usd            REAL    NOT NULL,
  usd_rest       REAL    NOT NULL DEFAULT 0,             -- what usd has lost by rounding: ten times 0.1 is 1
  reported       INTEGER NOT NULL,                       -- steps that are done and said what they cost
  unpriced       INTEGER NOT NULL,                       -- steps that are done and whose cost is unknown, or a part of it
  largest_usd    REAL    NOT NULL,                       -- of a step that is done
  largest_tokens INTEGER NOT NULL,
  PRIMARY KEY (thread_id, turn, task_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER step_spending_update AFTER UPDATE OF state ON agent_steps
WHEN NEW.kind = 'call' AND NEW.state <> 'intent'
BEGIN
  INSERT INTO step_spending (thread_id, turn, task_id, calls, tokens_in, tokens_out, usd, reported, unpriced,
                             largest_usd, largest_tokens)
  SELECT NEW.thread_id, NEW.turn, scope.task_id,
         NEW.failures - iif(OLD.kind = 'call', OLD.failures, 0) + (NEW.state = 'done'),
         coalesce(NEW.tokens_in, 0) - coalesce(OLD.tokens_in, 0),
         coalesce(NEW.tokens_out, 0) - coalesce(OLD.tokens_out, 0),
         coalesce(coalesce(NEW.cost_usd, 0.0) - coalesce(OLD.cost_usd, 0.0), 0.0),
         NEW.state = 'done' AND coalesce(NEW.tokens_in, NEW.tokens_out, NEW.cost_usd) IS NOT NULL,
         NEW.state = 'done' AND (NEW.cost_usd IS NULL OR NEW.unpriced > 0),
         iif(NEW.state = 'done', coalesce(NEW.cost_usd, 0.0), 0.0),
         iif(NEW.state = 'done', coalesce(NEW.tokens_in, 0) + coalesce(NEW.tokens_out, 0), 0)
  FROM (SELECT '' AS task_id UNION ALL SELECT NEW.task_id WHERE NEW.task_id <> '') AS scope
  WHERE true
  ON CONFLICT (thread_id, turn, task_id) DO UPDATE SET
    calls = calls + excluded.calls,
    tokens_in = tokens_in + excluded.tokens_in,
    tokens_out = tokens_out + excluded.tokens_out,
    usd_rest = coalesce(usd_rest + iif(abs(usd) >= abs(excluded.usd),
                                       usd - (usd + excluded.usd) + excluded.usd,
                                       excluded.usd - (usd + excluded.usd) + usd), 0.0),
    usd = usd + excluded.usd,
    reported = reported + excluded.reported,
    unpriced = unpriced + excluded.unpriced,
    largest_usd = max(largest_usd, excluded.largest_usd),
    largest_tokens = max(largest_tokens, excluded.largest_tokens);
END;

INSERT INTO step_spending (thread_id, turn, task_id, calls, tokens_in, tokens_out, usd, reported, unpriced, largest_usd,
                           largest_tokens)
SELECT thread_id, turn, scope, sum(failures + (state = 'done')), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0),
       coalesce(sum(cost_usd), 0.0),
       count(*) FILTER (WHERE state = 'done' AND coalesce(tokens_in, tokens_out, cost_usd) IS NOT NULL),
       count(*) FILTER (WHERE state = 'done' AND (cost_usd IS NULL OR unpriced > 0)),
       coalesce(max(cost_usd) FILTER (WHERE state = 'done'), 0.0),
       coalesce(max(coalesce(tokens_in, 0) + coalesce(tokens_out, 0)) FILTER (WHERE state = 'done'), 0)
FROM (SELECT *, '' AS scope FROM agent_steps UNION ALL SELECT *, task_id AS scope FROM agent_steps WHERE task_id <> '')
WHERE kind = 'call'
GROUP BY thread_id, turn, scope;

-- Calls that have ended are in the sums.
DROP INDEX agent_steps_spending;
CREATE INDEX agent_steps_in_flight ON agent_steps (thread_id, turn, task_id, reserved_usd, reserved_tokens)
  WHERE state = 'intent' AND kind = 'call';
