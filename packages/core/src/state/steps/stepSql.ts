// The SQL of StepStore, and how its rows become records.
import type { RunCost, StepKey, StepKind, StepSummary, StepUsage, TurnSpending } from './stepRecords.ts';

/** A step without its result. */
export interface StepSummaryRow extends StepKey {
  readonly node: string;
  readonly taskId: string | null;
  readonly kind: StepKind;
  readonly state: 'intent' | 'failed' | 'done';
  readonly attempt: number;
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  readonly costUsd: number | null;
  readonly unpriced: number;
  readonly startedAt: number;
  readonly finishedAt: number | null;
}

export interface StepRow extends StepSummaryRow {
  readonly resultJson: string | null;
  /** Hex, of `resultJson`; a blob has its own. */
  readonly resultSha256: string | null;
  /** How the result is encoded; `null`: as JSON. */
  readonly codec: string | null;
  readonly blobId: number | null;
  /** As of {@link sealedColumns}; `null` where there is no result, and in rows of before. */
  readonly seal: number | null;
}

/** What binds a step that has ended to its key. */
export const sealedColumns = (
  step: StepKey & Pick<StepRow, 'state' | 'codec' | 'resultSha256' | 'blobId'>,
) => [
  ...[step.threadId, step.lgTaskId, step.name, step.state],
  ...[step.codec, step.resultSha256, step.blobId],
];

/** Without results, which may be large. */
const SUMMARY_COLUMNS = `
  thread_id AS threadId, lg_task_id AS lgTaskId, name, node, task_id AS taskId, kind, state, attempt,
  tokens_in AS tokensIn, tokens_out AS tokensOut, cost_usd AS costUsd, unpriced,
  started_at AS startedAt, finished_at AS finishedAt`;

const COLUMNS = `${SUMMARY_COLUMNS},
  result_json AS resultJson, result_sha256 AS resultSha256, codec, blob_id AS blobId, seal`;

const KEY = 'thread_id = @threadId AND lg_task_id = @lgTaskId AND name = @name';

export const SELECT = `SELECT ${COLUMNS} FROM agent_steps WHERE ${KEY}`;

export const SELECT_TIMES = `
  SELECT started_at AS startedAt, finished_at AS finishedAt FROM agent_steps WHERE ${KEY}`;

// A visit's id, or one with a slash behind it. '0' is the character after the slash.
const OF_VISIT = `
  thread_id = @threadId AND lg_task_id >= @visitId AND lg_task_id < @visitId || '0'
  AND (lg_task_id = @visitId OR substr(lg_task_id, length(@visitId) + 1, 1) = '/')`;

export const SELECT_VISIT = `SELECT 1 FROM agent_steps WHERE ${OF_VISIT} LIMIT 1`;

// Of graphs inside a visit: a step of a task that has written nothing yet. What follows a visit's slash is the inner
// task's id, and perhaps another slash. '}' is the character after the bar that parts the names of a namespace.
export const SELECT_UNFINISHED_INSIDE = `
  WITH inner_steps AS (
    SELECT substr(lg_task_id, length(@visitId) + 2) || '/' AS place FROM agent_steps
    WHERE ${OF_VISIT} AND lg_task_id <> @visitId)
  SELECT 1 FROM inner_steps
  WHERE NOT EXISTS (
    SELECT 1 FROM checkpoint_writes
    WHERE thread_id = @frame AND checkpoint_ns >= @checkpointNs AND checkpoint_ns < @checkpointNs || '}'
      AND task_id = substr(place, 1, instr(place, '/') - 1) AND idx >= 0)
  LIMIT 1`;

export const MOVE_VISIT = `
  UPDATE agent_steps SET
    lg_task_id = @toVisitId || substr(lg_task_id, length(@visitId) + 1), node = @node,
    seal = iif(seal IS NULL, NULL,
               seal_of(thread_id, @toVisitId || substr(lg_task_id, length(@visitId) + 1), name, state,
                       codec, result_sha256, blob_id))
  WHERE ${OF_VISIT}`;

export const SELECT_FOR_THREAD = `
  SELECT ${SUMMARY_COLUMNS} FROM agent_steps WHERE thread_id = ? ORDER BY started_at ASC, lg_task_id ASC, name ASC`;

export const SELECT_IN_FLIGHT = `
  SELECT ${SUMMARY_COLUMNS} FROM agent_steps
  WHERE thread_id = ? AND state = 'intent' AND started_at >= ? ORDER BY started_at DESC LIMIT 1`;

/** The turn that a run stands in; a run of an older file may have no input. */
const TURN = 'coalesce((SELECT max(turn) FROM thread_inputs WHERE thread_id = @threadId), 1)';

export const INTEND = `
  INSERT INTO agent_steps (thread_id, lg_task_id, name, node, task_id, kind, state, reserved_usd, reserved_tokens, started_at, turn)
  VALUES (@threadId, @lgTaskId, @name, @node, @taskId, @kind, 'intent', @usd, @tokens, @now, ${TURN})
  ON CONFLICT (thread_id, lg_task_id, name)
    DO UPDATE SET state = 'intent', attempt = attempt + 1, codec = NULL, result_json = NULL, result_sha256 = NULL,
                  seal = NULL,
                  reserved_usd = excluded.reserved_usd,
                  reserved_tokens = excluded.reserved_tokens, started_at = excluded.started_at
    WHERE state <> 'done'
  RETURNING attempt`;

// The calls may have been made; nobody will ask for their results.
export const ABANDON = `
  UPDATE agent_steps SET state = 'failed', seal = NULL, failures = failures + 1, reserved_usd = 0, reserved_tokens = 0
  WHERE thread_id = ? AND state = 'intent'`;

// '0' is the character after the slash.
const IN_PLACE = `thread_id = @threadId AND (lg_task_id = @place OR (lg_task_id > @place || '/' AND lg_task_id < @place || '0'))`;

export const SELECT_IN = `
  SELECT thread_id AS threadId, lg_task_id AS lgTaskId, name FROM agent_steps WHERE ${IN_PLACE}`;

export const ABANDON_IN = `
  UPDATE agent_steps SET state = 'failed', seal = NULL, failures = failures + 1, reserved_usd = 0, reserved_tokens = 0
  WHERE ${IN_PLACE} AND state = 'intent'`;

// What earlier attempts reported was spent too. A step that reports usage was a call, whatever it was called.
const ADD_USAGE = `
  tokens_in = CASE WHEN @tokensIn IS NULL THEN tokens_in ELSE coalesce(tokens_in, 0) + @tokensIn END,
  tokens_out = CASE WHEN @tokensOut IS NULL THEN tokens_out ELSE coalesce(tokens_out, 0) + @tokensOut END,
  cost_usd = CASE WHEN @costUsd IS NULL THEN cost_usd ELSE coalesce(cost_usd, 0) + @costUsd END,
  unpriced = unpriced + @unpriced,
  kind = iif(coalesce(@tokensIn, @tokensOut, @costUsd) IS NULL, kind, 'call'),
  reserved_usd = 0, reserved_tokens = 0`;

export const FINISH = `
  UPDATE agent_steps SET state = 'done', result_json = @resultJson, result_sha256 = @resultSha256,
                         codec = @codec, blob_id = @blobId, finished_at = @now, seal = @seal, ${ADD_USAGE}
  WHERE ${KEY} AND state = 'intent'`;

export const FAIL = `
  UPDATE agent_steps SET state = 'failed', failures = failures + 1, codec = @codec, result_json = @resultJson,
                         result_sha256 = @resultSha256, seal = @seal, ${ADD_USAGE}
  WHERE ${KEY} AND state = 'intent'`;

export const ALLOW_REFUSED = `
  UPDATE agent_steps SET codec = NULL, result_json = NULL, result_sha256 = NULL, seal = NULL
  WHERE thread_id = @threadId AND codec = @codec`;

// Kept by a trigger; `''` is the whole turn.
export const SUM_COST = `
  SELECT coalesce(sum(tokens_in), 0) AS tokensIn, coalesce(sum(tokens_out), 0) AS tokensOut,
         coalesce(sum(usd + usd_rest), 0.0) AS costUsd,
         coalesce(sum(reported), 0) AS calls, coalesce(sum(unpriced), 0) AS unpriced
  FROM step_spending WHERE thread_id = ? AND task_id = ''`;

// The step that asks is left out where it is an intent already: its process died in it, and it is made once more.
const sumSpending = (task: string, condition: string): string => `
  WITH in_flight AS (
    SELECT count(*) AS calls, coalesce(sum(reserved_usd), 0.0) AS usd, coalesce(sum(reserved_tokens), 0) AS tokens
    FROM agent_steps
    WHERE thread_id = @threadId AND turn = ${TURN} AND state = 'intent' AND kind = 'call' ${condition}
      AND NOT (lg_task_id = @lgTaskId AND name = @name))
  SELECT ${TURN} AS turn, coalesce(spent.calls, 0) + in_flight.calls AS calls,
         coalesce(spent.usd + spent.usd_rest, 0.0) + in_flight.usd AS usd,
         coalesce(spent.tokens_in + spent.tokens_out, 0) + in_flight.tokens AS tokens,
         in_flight.usd AS reservedUsd, in_flight.tokens AS reservedTokens,
         coalesce(spent.largest_usd, 0.0) AS largestUsd, coalesce(spent.largest_tokens, 0) AS largestTokens
  FROM in_flight LEFT JOIN step_spending AS spent
    ON spent.thread_id = @threadId AND spent.turn = ${TURN} AND spent.task_id = ${task}`;

export const SUM_SPENDING = sumSpending("''", '');

export const SUM_SPENDING_OF_TASK = sumSpending('@taskId', 'AND task_id = @taskId');

export const NO_COST: RunCost = { tokensIn: 0, tokensOut: 0, costUsd: 0, calls: 0, unpriced: 0 };

export const NO_SPENDING: TurnSpending = {
  turn: 1,
  usd: 0,
  tokens: 0,
  calls: 0,
  reservedUsd: 0,
  reservedTokens: 0,
  largestUsd: 0,
  largestTokens: 0,
};

export function usageColumns({ tokensIn, tokensOut, costUsd, unpriced }: StepUsage): object {
  return {
    tokensIn: tokensIn ?? null,
    tokensOut: tokensOut ?? null,
    costUsd: costUsd ?? null,
    unpriced: unpriced ?? 0,
  };
}

export function rowUsage({ tokensIn, tokensOut, costUsd, unpriced }: StepSummaryRow): StepUsage {
  return {
    ...(tokensIn !== null && { tokensIn }),
    ...(tokensOut !== null && { tokensOut }),
    ...(costUsd !== null && { costUsd }),
    ...(unpriced > 0 && { unpriced }),
  };
}

export function stepSummary(row: StepSummaryRow): StepSummary {
  const { threadId, lgTaskId, name, node, taskId, kind, state, attempt, startedAt, finishedAt } = row;
  return {
    threadId,
    lgTaskId,
    name,
    node,
    taskId,
    kind,
    state,
    attempt,
    usage: rowUsage(row),
    startedAt,
    finishedAt,
  };
}
