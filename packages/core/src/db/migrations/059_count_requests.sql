-- How many requests a step's call made, as it reported them: a stage of an agent makes many. A call that reports none counts as one.
ALTER TABLE agent_steps ADD COLUMN requests INTEGER NOT NULL DEFAULT 0;                -- of every attempt that has ended, at least one for each
ALTER TABLE step_spending ADD COLUMN requests INTEGER NOT NULL DEFAULT 0;              -- of calls that have ended
ALTER TABLE step_spending ADD COLUMN largest_requests INTEGER NOT NULL DEFAULT 1;      -- of a step that is done

UPDATE agent_steps SET requests = failures + (state = 'done');
UPDATE step_spending SET requests = calls;
UPDATE step_spending SET largest_requests = coalesce(
  (SELECT max(s.requests) FROM agent_steps AS s
   WHERE s.thread_id = step_spending.thread_id AND s.turn = step_spending.turn AND s.kind = 'call' AND s.state = 'done'
     AND (step_spending.task_id = '' OR s.task_id = step_spending.task_id)), 1);

DROP TRIGGER step_spending_update;
CREATE TRIGGER step_spending_update AFTER UPDATE OF state ON agent_steps
WHEN NEW.kind = 'call' AND NEW.state <> 'intent'
BEGIN
  INSERT INTO step_spending (thread_id, turn, task_id, calls, requests, tokens_in, tokens_out, usd, reported, unpriced,
                             largest_usd, largest_tokens, largest_requests)
  SELECT NEW.thread_id, NEW.turn, scope.task_id,
         NEW.failures - iif(OLD.kind = 'call', OLD.failures, 0) + (NEW.state = 'done'),
         NEW.requests - iif(OLD.kind = 'call', OLD.requests, 0),
         coalesce(NEW.tokens_in, 0) - coalesce(OLD.tokens_in, 0),
         coalesce(NEW.tokens_out, 0) - coalesce(OLD.tokens_out, 0),
         coalesce(coalesce(NEW.cost_usd, 0.0) - coalesce(OLD.cost_usd, 0.0), 0.0),
         NEW.state = 'done' AND coalesce(NEW.tokens_in, NEW.tokens_out, NEW.cost_usd) IS NOT NULL,
         NEW.state = 'done' AND (NEW.cost_usd IS NULL OR NEW.unpriced > 0),
         iif(NEW.state = 'done', coalesce(NEW.cost_usd, 0.0), 0.0),
         iif(NEW.state = 'done', coalesce(NEW.tokens_in, 0) + coalesce(NEW.tokens_out, 0), 0),
         iif(NEW.state = 'done', max(NEW.requests, 1), 1)
  FROM (SELECT '' AS task_id UNION ALL SELECT NEW.task_id WHERE NEW.task_id <> '') AS scope
  WHERE true
  ON CONFLICT (thread_id, turn, task_id) DO UPDATE SET
    calls = calls + excluded.calls,
    requests = requests + excluded.requests,
    tokens_in = tokens_in + excluded.tokens_in,
    tokens_out = tokens_out + excluded.tokens_out,
    usd_rest = coalesce(usd_rest + iif(abs(usd) >= abs(excluded.usd),
                                       usd - (usd + excluded.usd) + excluded.usd,
                                       excluded.usd - (usd + excluded.usd) + usd), 0.0),
    usd = usd + excluded.usd,
    reported = reported + excluded.reported,
    unpriced = unpriced + excluded.unpriced,
    largest_usd = max(largest_usd, excluded.largest_usd),
    largest_tokens = max(largest_tokens, excluded.largest_tokens),
    largest_requests = max(largest_requests, excluded.largest_requests);
END;
