import type { Database, Statement } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { BlobStore } from './BlobStore.ts';
import { canonicalJson, sha256Hex } from './canonicalJson.ts';
import type { Fence } from './Fence.ts';
import { immediately } from './immediately.ts';
import type { StoreOptions } from './StoreOptions.ts';

/** Which step: LangGraph's task id is the same over resume, retry and crash, and another one after a rewind. */
export interface StepKey {
  readonly threadId: string;
  readonly lgTaskId: string;
  readonly name: string;
}

export interface NewStep extends StepKey {
  readonly node: string;
  /** The pipeline's task; `null` outside one. */
  readonly taskId: string | null;
}

/** A visit LangGraph names anew, and the node it is a visit of now. */
export interface MovedVisit {
  readonly threadId: string;
  readonly visitId: string;
  readonly toVisitId: string;
  readonly node: string;
}

/** What a step's calls cost. An absent figure is unknown. */
export interface StepUsage {
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  /** US dollars. */
  readonly costUsd?: number;
}

export type RecordedStep =
  /** Begun `attempt` times; how the last one ended is unknown. */
  | { readonly state: 'intent'; readonly attempt: number }
  | {
      readonly state: 'done';
      readonly attempt: number;
      /** Plain JSON, or `undefined` where the step returned nothing. */
      readonly result: unknown;
      readonly usage: StepUsage;
      /** Milliseconds since the Unix epoch, UTC. */
      readonly finishedAt: number;
    };

/** A step without its result, for lists. */
export interface StepSummary extends NewStep {
  readonly state: 'intent' | 'done';
  readonly attempt: number;
  readonly usage: StepUsage;
  /** Milliseconds since the Unix epoch, UTC: begin of the last attempt. */
  readonly startedAt: number;
  readonly finishedAt: number | null;
}

export interface RunCost {
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** US dollars. */
  readonly costUsd: number;
  /** Finished steps that reported a cost. */
  readonly calls: number;
}

interface StepRow extends NewStep {
  readonly state: 'intent' | 'done';
  readonly attempt: number;
  readonly resultJson: string | null;
  /** Hex, of `resultJson`; a blob has its own. */
  readonly resultSha256: string | null;
  readonly blobId: number | null;
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  readonly costUsd: number | null;
  readonly startedAt: number;
  readonly finishedAt: number | null;
}

/** Results up to this many bytes lie in the row; larger ones in a blob. */
const INLINE_RESULT_BYTES = 8 * 1024;

const COLUMNS = `
  thread_id AS threadId, lg_task_id AS lgTaskId, name, node, task_id AS taskId, state, attempt,
  result_json AS resultJson, result_sha256 AS resultSha256, blob_id AS blobId, tokens_in AS tokensIn, tokens_out AS tokensOut,
  cost_usd AS costUsd, started_at AS startedAt, finished_at AS finishedAt`;

const KEY = 'thread_id = @threadId AND lg_task_id = @lgTaskId AND name = @name';

const INTEND = `
  INSERT INTO agent_steps (thread_id, lg_task_id, name, node, task_id, state, started_at)
  VALUES (@threadId, @lgTaskId, @name, @node, @taskId, 'intent', @now)
  ON CONFLICT (thread_id, lg_task_id, name)
    DO UPDATE SET attempt = attempt + 1, started_at = excluded.started_at WHERE state = 'intent'
  RETURNING attempt`;

const FINISH = `
  UPDATE agent_steps SET state = 'done', result_json = @resultJson, result_sha256 = @resultSha256,
                         blob_id = @blobId, tokens_in = @tokensIn, tokens_out = @tokensOut, cost_usd = @costUsd, finished_at = @now
  WHERE ${KEY} AND state = 'intent'`;

const SELECT_VISIT = 'SELECT 1 FROM agent_steps WHERE thread_id = ? AND lg_task_id = ? LIMIT 1';

const MOVE_VISIT = `
  UPDATE agent_steps SET lg_task_id = @toVisitId, node = @node
  WHERE thread_id = @threadId AND lg_task_id = @visitId`;

const SELECT_FOR_THREAD = `
  SELECT ${COLUMNS} FROM agent_steps WHERE thread_id = ? ORDER BY started_at ASC, lg_task_id ASC, name ASC`;

const SUM_COST = `
  SELECT coalesce(sum(tokens_in), 0) AS tokensIn, coalesce(sum(tokens_out), 0) AS tokensOut,
         coalesce(sum(cost_usd), 0.0) AS costUsd,
         count(*) FILTER (WHERE coalesce(tokens_in, tokens_out, cost_usd) IS NOT NULL) AS calls
  FROM agent_steps WHERE thread_id = ?`;

/**
 * Results of durable steps. A step is finished when its row is committed; a finished step is never begun again,
 * one that was in flight at a crash is, and its row says how often.
 */
export class StepStore {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #blobs: BlobStore;
  readonly #select: Statement<[StepKey], StepRow>;
  readonly #selectVisit: Statement<[string, string], number>;
  readonly #selectForThread: Statement<[string], StepRow>;
  readonly #sumCost: Statement<[string], RunCost>;
  readonly #intend: Statement<[object], number>;
  readonly #finish: Statement<[object]>;
  readonly #moveVisit: Statement<[MovedVisit]>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now }: StoreOptions = {}) {
    this.#db = db;
    this.#now = now;
    this.#blobs = new BlobStore(db);
    this.#select = db.prepare(`SELECT ${COLUMNS} FROM agent_steps WHERE ${KEY}`);
    this.#selectVisit = db.prepare<[string, string], number>(SELECT_VISIT).pluck();
    this.#selectForThread = db.prepare(SELECT_FOR_THREAD);
    this.#sumCost = db.prepare(SUM_COST);
    this.#intend = db.prepare<[object], number>(INTEND).pluck();
    this.#finish = db.prepare(FINISH);
    this.#moveVisit = db.prepare(MOVE_VISIT);
  }

  /** @throws DevsError `STATE_CORRUPT` if the result is damaged. */
  find({ threadId, lgTaskId, name }: StepKey): RecordedStep | null {
    const row = this.#select.get({ threadId, lgTaskId, name });
    if (row === undefined) return null;
    const { state, attempt } = row;
    if (state === 'intent') return { state, attempt };
    return {
      state,
      attempt,
      result: this.#resultOf(row),
      usage: usageOf(row),
      finishedAt: row.finishedAt ?? 0,
    };
  }

  /**
   * Records that a step is about to be done, before it is; returns which attempt this is, from 1.
   *
   * @throws DevsError `LEASE_LOST`, so that a replaced driver makes no call.
   * @throws RangeError if the step is finished: its result must be used instead.
   */
  intent({ threadId, lgTaskId, name, node, taskId }: NewStep, fence: Fence): number {
    const values = { threadId, lgTaskId, name, node, taskId, now: this.#now() };
    return this.#fenced(fence, () => {
      const attempt = this.#intend.get(values);
      if (attempt !== undefined) return attempt;
      throw new RangeError(`Step "${name}" of "${node}" is finished; find() has its result.`);
    });
  }

  /**
   * Records a step's result. Plain JSON only; `undefined` is kept as such.
   *
   * @throws DevsError `VALUE_NOT_STORABLE`, `LEASE_LOST`; the step then stays an intent.
   * @throws RangeError if the step has no open intent.
   */
  finish(step: StepKey, result: unknown, usage: StepUsage, fence: Fence): void {
    const json = result === undefined ? null : canonicalJson(result); // a bad value must not open a transaction
    this.#fenced(fence, () => {
      const values = { ...keyOf(step), ...this.#place(json), ...costColumns(usage), now: this.#now() };
      if (this.#finish.run(values).changes === 1) return;
      throw new RangeError(`Step "${step.name}" has no open intent; call intent() first.`);
    });
  }

  /** Whether any step of this visit of a node was ever begun. */
  hasVisit(threadId: string, lgTaskId: string): boolean {
    return this.#selectVisit.get(threadId, lgTaskId) !== undefined;
  }

  /** Hands the steps of a visit to the one that takes its place, so that their calls are not made again. */
  moveVisit(visit: MovedVisit): void {
    this.#moveVisit.run(visit);
  }

  /** Steps of a run, oldest first. */
  listForThread(threadId: string): readonly StepSummary[] {
    return this.#selectForThread.all(threadId).map(summaryOf);
  }

  costOf(threadId: string): RunCost {
    return this.#sumCost.get(threadId) ?? { tokensIn: 0, tokensOut: 0, costUsd: 0, calls: 0 };
  }

  #place(json: string | null): Pick<StepRow, 'resultJson' | 'resultSha256' | 'blobId'> {
    if (json === null) return { resultJson: null, resultSha256: null, blobId: null };
    if (Buffer.byteLength(json) <= INLINE_RESULT_BYTES)
      return { resultJson: json, resultSha256: sha256Hex(json), blobId: null };
    return { resultJson: null, resultSha256: null, blobId: this.#blobs.put(Buffer.from(json)) };
  }

  #resultOf(row: StepRow): unknown {
    const { resultJson, blobId } = row;
    if (blobId === null) assertUndamaged(row);
    const json = blobId === null ? resultJson : Buffer.from(this.#blobs.get(blobId)).toString('utf8');
    return json === null ? undefined : (JSON.parse(json) as unknown);
  }

  #fenced<T>(fence: Fence, work: () => T): T {
    return immediately(this.#db, () => {
      fence.assertInTx();
      return work();
    });
  }
}

/** A result whose bits changed in the file must not be replayed as what a call answered. */
function assertUndamaged({ threadId, name, resultJson, resultSha256 }: StepRow): void {
  if ((resultJson === null ? null : sha256Hex(resultJson)) === resultSha256) return;
  throw new DevsError(`The recorded result of step "${name}" of run "${threadId}" is damaged.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Restore the state file from a backup, or delete this row of agent_steps to make the call again.',
    context: { threadId, name },
  });
}

function keyOf({ threadId, lgTaskId, name }: StepKey): StepKey {
  return { threadId, lgTaskId, name };
}

function costColumns({
  tokensIn,
  tokensOut,
  costUsd,
}: StepUsage): Pick<StepRow, 'tokensIn' | 'tokensOut' | 'costUsd'> {
  return { tokensIn: tokensIn ?? null, tokensOut: tokensOut ?? null, costUsd: costUsd ?? null };
}

function usageOf({ tokensIn, tokensOut, costUsd }: StepRow): StepUsage {
  return {
    ...(tokensIn !== null && { tokensIn }),
    ...(tokensOut !== null && { tokensOut }),
    ...(costUsd !== null && { costUsd }),
  };
}

function summaryOf(row: StepRow): StepSummary {
  const { threadId, lgTaskId, name, node, taskId, state, attempt, startedAt, finishedAt } = row;
  return {
    threadId,
    lgTaskId,
    name,
    node,
    taskId,
    state,
    attempt,
    usage: usageOf(row),
    startedAt,
    finishedAt,
  };
}
