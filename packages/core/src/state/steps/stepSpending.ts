import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import type { StepKey } from './stepRecords.ts';

export interface RunCost {
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** US dollars. */
  readonly costUsd: number;
  /** Finished steps that reported tokens or a cost. */
  readonly calls: number;
  /** Requests to models, as calls reported them; a call that reported none counts as one. */
  readonly requests: number;
  /** Finished calls whose cost is not known, or only in part. */
  readonly unpriced: number;
}

/** What the calls of a run or task took, and what those in flight hold back. */
export interface Spending {
  /** US dollars, with what is reserved. */
  readonly usd: number;
  /** With what is reserved. */
  readonly tokens: number;
  /** Requests made, and for each call in flight as many as `largestCalls`; one that threw and was made again counts twice. */
  readonly calls: number;
  readonly reservedUsd: number;
  readonly reservedTokens: number;
  /** The dearest finished call, in US dollars. */
  readonly largestUsd: number;
  /** The longest finished call, in tokens in and out. */
  readonly largestTokens: number;
  /** The finished call with most requests, at least 1. */
  readonly largestCalls: number;
}

/** Of the turn that a run stands in. */
export interface TurnSpending extends Spending {
  /** From 1. */
  readonly turn: number;
}

const NO_COST: RunCost = { tokensIn: 0, tokensOut: 0, costUsd: 0, calls: 0, requests: 0, unpriced: 0 };

const NO_SPENDING: TurnSpending = {
  turn: 1,
  usd: 0,
  tokens: 0,
  calls: 0,
  reservedUsd: 0,
  reservedTokens: 0,
  largestUsd: 0,
  largestTokens: 0,
  largestCalls: 1,
};

/** The turn that a run stands in; a run of an older file may have no input. */
export const TURN = 'coalesce((SELECT max(turn) FROM thread_inputs WHERE thread_id = @threadId), 1)';

// `''` is the whole turn.
const SUM_COST = `
  SELECT coalesce(sum(tokens_in), 0) AS tokensIn, coalesce(sum(tokens_out), 0) AS tokensOut,
         coalesce(sum(usd + usd_rest), 0.0) AS costUsd,
         coalesce(sum(reported), 0) AS calls, coalesce(sum(requests), 0) AS requests,
         coalesce(sum(unpriced), 0) AS unpriced
  FROM step_spending WHERE thread_id = ? AND task_id = ''`;

// The step that asks is left out where it is an intent already: its process died in it, and it is made once more.
const sumSpending = (task: string, condition: string): string => `
  WITH in_flight AS (
    SELECT count(*) AS calls, coalesce(sum(reserved_usd), 0.0) AS usd, coalesce(sum(reserved_tokens), 0) AS tokens
    FROM agent_steps
    WHERE thread_id = @threadId AND turn = ${TURN} AND state = 'intent' AND kind = 'call' ${condition}
      AND NOT (lg_task_id = @lgTaskId AND name = @name))
  SELECT ${TURN} AS turn, coalesce(spent.requests, 0) + in_flight.calls * coalesce(spent.largest_requests, 1) AS calls,
         coalesce(spent.usd + spent.usd_rest, 0.0) + in_flight.usd AS usd,
         coalesce(spent.tokens_in + spent.tokens_out, 0) + in_flight.tokens AS tokens,
         in_flight.usd AS reservedUsd, in_flight.tokens AS reservedTokens,
         coalesce(spent.largest_usd, 0.0) AS largestUsd, coalesce(spent.largest_tokens, 0) AS largestTokens,
         coalesce(spent.largest_requests, 1) AS largestCalls
  FROM in_flight LEFT JOIN step_spending AS spent
    ON spent.thread_id = @threadId AND spent.turn = ${TURN} AND spent.task_id = ${task}`;

const SUM_SPENDING = sumSpending("''", '');
const SUM_SPENDING_OF_TASK = sumSpending('@taskId', 'AND task_id = @taskId');

/**
 * Rows of `step_spending`, which a trigger of `agent_steps` keeps: the cost of the calls of a turn, and of each task in it.
 * The cost that a call in flight holds back is in its own row.
 */
export class StepSpending {
  readonly #sumCost: Statement<[string], RunCost>;
  readonly #sum: Statement<[object], TurnSpending>;
  readonly #sumOfTask: Statement<[object], TurnSpending>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    this.#sumCost = prepare(db, SUM_COST);
    this.#sum = prepare(db, SUM_SPENDING);
    this.#sumOfTask = prepare(db, SUM_SPENDING_OF_TASK);
  }

  costOf(threadId: string): RunCost {
    return this.#sumCost.get(threadId) ?? NO_COST;
  }

  /** As `StepStore.spendingBefore`. */
  before({ threadId, lgTaskId, name }: StepKey, taskId: string | null): TurnSpending {
    const sum = taskId === null ? this.#sum : this.#sumOfTask;
    return sum.get({ threadId, lgTaskId, name, taskId }) ?? NO_SPENDING;
  }
}
