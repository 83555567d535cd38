import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import { BlobStore } from '../blobs/BlobStore.ts';
import { type Fence, withinTransaction } from '../commits/immediateTransaction.ts';
import { type StoreOptions, sealNumber, useSeals } from '../rows/rows.ts';
import {
  damagedResult,
  ENCODED,
  type NewStep,
  REFUSED,
  type Refusal,
  type RenamedExecution,
  type ResultCodec,
  readRefusal,
  type StepKey,
  type StepKind,
  type StepOnRecord,
  StepResult,
  type StepSummary,
  type StepTimes,
  type StepUsage,
  type UnfinishedInside,
} from './stepRecords.ts';
import { type RunCost, StepSpending, TURN, type TurnSpending } from './stepSpending.ts';

export interface StepStoreOptions extends StoreOptions {
  /** For results that are more than JSON. @defaultValue those are refused */
  readonly codec?: ResultCodec;
}

const NO_REFUSAL = { codec: null, resultJson: null, resultSha256: null, seal: null };

/**
 * Results up to this many bytes lie in the row. A larger one is a blob, often the same as a channel of the node. A row above some
 * 1,000 bytes would need a page of its own.
 */
const INLINE_RESULT_BYTES = 512;

/** A step without its result. */
interface StepSummaryRow extends StepKey {
  readonly node: string;
  readonly taskId: string | null;
  readonly kind: StepKind;
  readonly state: 'intent' | 'failed' | 'done';
  readonly attempt: number;
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  readonly costUsd: number | null;
  readonly unpriced: number;
  readonly requests: number;
  readonly startedAt: number;
  readonly finishedAt: number | null;
}

interface StepRow extends StepSummaryRow {
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
const sealedColumns = (step: StepKey & Pick<StepRow, 'state' | 'codec' | 'resultSha256' | 'blobId'>) => [
  ...[step.threadId, step.lgTaskId, step.name, step.state],
  ...[step.codec, step.resultSha256, step.blobId],
];

/** Without results, which may be large. */
const SUMMARY_COLUMNS = `
  thread_id AS threadId, lg_task_id AS lgTaskId, name, node, task_id AS taskId, kind, state, attempt,
  tokens_in AS tokensIn, tokens_out AS tokensOut, cost_usd AS costUsd, unpriced, requests,
  started_at AS startedAt, finished_at AS finishedAt`;

const COLUMNS = `${SUMMARY_COLUMNS},
  result_json AS resultJson, result_sha256 AS resultSha256, codec, blob_id AS blobId, seal`;

const KEY = 'thread_id = @threadId AND lg_task_id = @lgTaskId AND name = @name';

const SELECT = `SELECT ${COLUMNS} FROM agent_steps WHERE ${KEY}`;

const SELECT_TIMES = `
  SELECT started_at AS startedAt, finished_at AS finishedAt FROM agent_steps WHERE ${KEY}`;

// A visit's id, or one with a slash behind it. '0' is the character after the slash.
const OF_VISIT = `
  thread_id = @threadId AND lg_task_id >= @visitId AND lg_task_id < @visitId || '0'
  AND (lg_task_id = @visitId OR substr(lg_task_id, length(@visitId) + 1, 1) = '/')`;

const SELECT_VISIT = `SELECT 1 FROM agent_steps WHERE ${OF_VISIT} LIMIT 1`;

// Of graphs inside a visit: a step of a task that has written nothing yet. What follows a visit's slash is the inner
// task's id, and perhaps another slash. '}' is the character after the bar that parts the names of a namespace.
const SELECT_UNFINISHED_INSIDE = `
  WITH inner_steps AS (
    SELECT substr(lg_task_id, length(@visitId) + 2) || '/' AS place FROM agent_steps
    WHERE ${OF_VISIT} AND lg_task_id <> @visitId)
  SELECT 1 FROM inner_steps
  WHERE NOT EXISTS (
    SELECT 1 FROM checkpoint_writes
    WHERE thread_id = @frame AND checkpoint_ns >= @checkpointNs AND checkpoint_ns < @checkpointNs || '}'
      AND task_id = substr(place, 1, instr(place, '/') - 1) AND idx >= 0)
  LIMIT 1`;

const MOVE_VISIT = `
  UPDATE agent_steps SET
    lg_task_id = @toVisitId || substr(lg_task_id, length(@visitId) + 1), node = @node,
    seal = iif(seal IS NULL, NULL,
               seal_of(thread_id, @toVisitId || substr(lg_task_id, length(@visitId) + 1), name, state,
                       codec, result_sha256, blob_id))
  WHERE ${OF_VISIT}`;

const SELECT_FOR_THREAD = `
  SELECT ${SUMMARY_COLUMNS} FROM agent_steps WHERE thread_id = ? ORDER BY started_at ASC, lg_task_id ASC, name ASC`;

const SELECT_IN_FLIGHT = `
  SELECT ${SUMMARY_COLUMNS} FROM agent_steps
  WHERE thread_id = ? AND state = 'intent' AND started_at >= ? ORDER BY started_at DESC LIMIT 1`;

const INTEND = `
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
const ABANDON = `
  UPDATE agent_steps SET state = 'failed', seal = NULL, failures = failures + 1, requests = requests + 1, reserved_usd = 0, reserved_tokens = 0
  WHERE thread_id = ? AND state = 'intent'`;

// '0' is the character after the slash.
const IN_PLACE = `thread_id = @threadId AND (lg_task_id = @place OR (lg_task_id > @place || '/' AND lg_task_id < @place || '0'))`;

const SELECT_IN = `
  SELECT thread_id AS threadId, lg_task_id AS lgTaskId, name FROM agent_steps WHERE ${IN_PLACE}`;

const ABANDON_IN = `
  UPDATE agent_steps SET state = 'failed', seal = NULL, failures = failures + 1, requests = requests + 1, reserved_usd = 0, reserved_tokens = 0
  WHERE ${IN_PLACE} AND state = 'intent'`;

// What earlier attempts reported was spent too. A step that reports usage was a call, whatever it was called.
const ADD_USAGE = `
  tokens_in = CASE WHEN @tokensIn IS NULL THEN tokens_in ELSE coalesce(tokens_in, 0) + @tokensIn END,
  tokens_out = CASE WHEN @tokensOut IS NULL THEN tokens_out ELSE coalesce(tokens_out, 0) + @tokensOut END,
  cost_usd = CASE WHEN @costUsd IS NULL THEN cost_usd ELSE coalesce(cost_usd, 0) + @costUsd END,
  unpriced = unpriced + @unpriced, requests = requests + max(@requests, 1),
  kind = iif(coalesce(@tokensIn, @tokensOut, @costUsd) IS NULL, kind, 'call'),
  reserved_usd = 0, reserved_tokens = 0`;

const FINISH = `
  UPDATE agent_steps SET state = 'done', result_json = @resultJson, result_sha256 = @resultSha256,
                         codec = @codec, blob_id = @blobId, finished_at = @now, seal = @seal, ${ADD_USAGE}
  WHERE ${KEY} AND state = 'intent'`;

const FAIL = `
  UPDATE agent_steps SET state = 'failed', failures = failures + 1, codec = @codec, result_json = @resultJson,
                         result_sha256 = @resultSha256, seal = @seal, ${ADD_USAGE}
  WHERE ${KEY} AND state = 'intent'`;

const ALLOW_REFUSED = `
  UPDATE agent_steps SET codec = NULL, result_json = NULL, result_sha256 = NULL, seal = NULL
  WHERE thread_id = @threadId AND codec = @codec`;

/**
 * Results of durable steps. A step is finished when its row is committed; a finished step is never begun again,
 * one that was in flight at a crash is, and its row says how often.
 */
export class StepStore {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #codec: ResultCodec | null;
  readonly #blobs: BlobStore;
  readonly #select: Statement<[StepKey], StepRow>;
  readonly #selectTimes: Statement<[StepKey], StepTimes>;
  readonly #selectVisit: Statement<[Pick<RenamedExecution, 'threadId' | 'visitId'>], number>;
  readonly #selectUnfinished: Statement<[UnfinishedInside], number>;
  readonly #selectForThread: Statement<[string], StepSummaryRow>;
  readonly #selectInFlight: Statement<[string, number], StepSummaryRow>;
  readonly #spending: StepSpending;
  readonly #intend: Statement<[object], number>;
  readonly #finish: Statement<[object]>;
  readonly #moveVisit: Statement<[RenamedExecution]>;
  readonly #fail: Statement<[object]>;
  readonly #allowRefused: Statement<[object]>;
  readonly #abandon: Statement<[string]>;
  readonly #abandonIn: Statement<[object]>;
  readonly #selectIn: Statement<[object], StepKey>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now, codec }: StepStoreOptions = {}) {
    this.#db = db;
    this.#now = now;
    this.#codec = codec ?? null;
    this.#blobs = new BlobStore(db);
    useSeals(db);
    this.#select = prepare(db, SELECT);
    this.#selectTimes = prepare(db, SELECT_TIMES);
    this.#selectVisit = prepare<[object], number>(db, SELECT_VISIT).pluck();
    this.#selectUnfinished = prepare<[UnfinishedInside], number>(db, SELECT_UNFINISHED_INSIDE).pluck();
    this.#selectForThread = prepare(db, SELECT_FOR_THREAD);
    this.#selectInFlight = prepare(db, SELECT_IN_FLIGHT);
    this.#spending = new StepSpending(db);
    this.#intend = prepare<[object], number>(db, INTEND).pluck();
    this.#finish = prepare(db, FINISH);
    this.#fail = prepare(db, FAIL);
    this.#allowRefused = prepare(db, ALLOW_REFUSED);
    this.#abandon = prepare(db, ABANDON);
    this.#abandonIn = prepare(db, ABANDON_IN);
    this.#selectIn = prepare(db, SELECT_IN);
    this.#moveVisit = prepare(db, MOVE_VISIT);
  }

  /** @throws DevsError `STATE_CORRUPT` if the result is damaged. */
  find(step: StepKey): StepOnRecord | null {
    const row = this.#select.get(normalizedStepKey(step));
    if (row === undefined) return null;
    const { state, attempt, codec, resultJson, resultSha256, seal } = row;
    if (seal !== null && seal !== sealNumber(sealedColumns(row))) throw damagedResult(row);
    if (state !== 'done') {
      return { state, attempt, ...(codec === REFUSED && { refused: readRefusal(resultJson, resultSha256) }) };
    }
    return {
      state,
      attempt,
      result: this.#resultOf(row),
      ...(codec !== null && { codec }),
      usage: rowUsage(row),
      finishedAt: row.finishedAt ?? 0,
    };
  }

  /** The recorded result of a step, as its call gave it; `undefined` also where there is none. */
  async load(step: StepKey): Promise<unknown> {
    const recorded = this.find(step);
    if (recorded?.state !== 'done') return undefined;
    if (recorded.codec === undefined) return recorded.result;
    if (this.#codec === null) throw damagedResult(step);
    return this.#codec.decode(JSON.stringify(recorded.result));
  }

  /**
   * A result as it can be recorded: plain JSON as such, all else by the codec.
   *
   * @throws DevsError `VALUE_NOT_STORABLE` or `VALUE_TOO_LARGE`, naming the place.
   */
  async encode(result: unknown): Promise<StepResult> {
    try {
      return StepResult.plain(result);
    } catch (error) {
      if (this.#codec === null || !isDevsError(error, 'VALUE_NOT_STORABLE')) throw error;
      return StepResult.encoded(await this.#codec.encode(result));
    }
  }

  /**
   * Records that a step is about to be done, before it is; returns which attempt this is, from 1. What an earlier
   * attempt held back is replaced, not added to.
   *
   * @throws DevsError `LEASE_LOST`, so that a replaced driver makes no call.
   * @throws RangeError if the step is finished: its result must be used instead.
   */
  intent(step: NewStep, fence: Fence): number {
    const { node, taskId, kind = 'call', reserve = { usd: 0, tokens: 0 } } = step;
    const values = { ...normalizedStepKey(step), node, taskId, kind, ...reserve, now: this.#now() };
    return this.#fenced(fence, () => {
      const attempt = this.#intend.get(values);
      if (attempt !== undefined) return attempt;
      throw new RangeError(`Step "${step.name}" of "${node}" is finished; find() has its result.`);
    });
  }

  /**
   * Records a step's result: plain JSON, `undefined`, or what {@link encode} made of another.
   *
   * @throws DevsError `VALUE_NOT_STORABLE`, `LEASE_LOST`; the step then stays an intent.
   * @throws RangeError if the step has no open intent.
   */
  finish(step: StepKey, result: unknown, usage: StepUsage, fence: Fence): void {
    const placed = result instanceof StepResult ? result : StepResult.plain(result); // a bad value must not open a transaction
    this.#fenced(fence, () => {
      const done = { ...normalizedStepKey(step), ...this.#place(placed), state: 'done' } as const;
      const seal = sealNumber(sealedColumns(done));
      const values = { ...done, seal, ...usageColumns(usage), now: this.#now() };
      if (this.#finish.run(values).changes === 1) return;
      throw new RangeError(`Step "${step.name}" has no open intent; call intent() first.`);
    });
  }

  /** Records that a step threw, and what it had cost by then. It is begun again when its node is. */
  fail(step: StepKey, usage: StepUsage, fence: Fence): void {
    const values = { ...normalizedStepKey(step), ...usageColumns(usage), ...NO_REFUSAL };
    this.#fenced(fence, () => this.#fail.run(values));
  }

  /**
   * Records that a step's call was made and its result cannot be stored, and what it had cost. The call is made again
   * once somebody has {@link allowRefused}.
   */
  refuse(step: StepKey, refusal: Refusal, usage: StepUsage, fence: Fence): void {
    const resultJson = canonicalJson(refusal);
    const resultSha256 = StepResult.sha256(resultJson, REFUSED);
    const refused = {
      ...normalizedStepKey(step),
      state: 'failed',
      codec: REFUSED,
      resultSha256,
      blobId: null,
    } as const;
    const seal = sealNumber(sealedColumns(refused));
    const values = { ...refused, resultJson, seal, ...usageColumns(usage) };
    this.#fenced(fence, () => this.#fail.run(values));
  }

  /** Lets the calls of a run be made again whose results could not be stored. */
  allowRefused(threadId: string, fence: Fence): void {
    this.#fenced(fence, () => this.#allowRefused.run({ threadId, codec: REFUSED }));
  }

  /** Gives up the steps of a run that were begun and have no result: the visits they belong to do not go on. */
  abandon(threadId: string): void {
    this.#abandon.run(threadId);
  }

  /** {@link abandon} for the steps of a place, and of those inside it. */
  abandonIn(threadId: string, place: string): void {
    this.#abandonIn.run({ threadId, place });
  }

  /** The steps of a place, and of those inside it. */
  listIn(threadId: string, place: string): readonly StepKey[] {
    return this.#selectIn.all({ threadId, place });
  }

  /** `null` for a step that was never begun. */
  timesOf(step: StepKey): StepTimes | null {
    return this.#selectTimes.get(normalizedStepKey(step)) ?? null;
  }

  /** Whether a graph inside a visit has begun a step in a task that has not come to its end. */
  hasUnfinishedInside(where: UnfinishedInside): boolean {
    return this.#selectUnfinished.get(where) !== undefined;
  }

  /** Whether any step of this visit of a node was ever begun, in whatever place inside. */
  hasVisit(threadId: string, visitId: string): boolean {
    return this.#selectVisit.get({ threadId, visitId }) !== undefined;
  }

  /** Hands the steps of a visit to the one that takes its place, so that their calls are not made again. */
  moveVisit(visit: RenamedExecution): void {
    this.#moveVisit.run(visit);
  }

  /** Steps of a run, oldest first. */
  listForThread(threadId: string): readonly StepSummary[] {
    return this.#selectForThread.all(threadId).map(stepSummary);
  }

  /** The step of a run that was begun last and has not ended, if it was not begun before `since`, in ms since the Unix epoch. */
  inFlight(threadId: string, since: number): StepSummary | null {
    const row = this.#selectInFlight.get(threadId, since);
    return row === undefined ? null : stepSummary(row);
  }

  costOf(threadId: string): RunCost {
    return this.#spending.costOf(threadId);
  }

  /** What a step that is about to be made finds spent and held back in this turn, by its run or, with `taskId`, by one task. */
  spendingBefore(step: StepKey, taskId: string | null): TurnSpending {
    return this.#spending.before(step, taskId);
  }

  #place({ json, codec }: StepResult): Pick<StepRow, 'resultJson' | 'resultSha256' | 'blobId' | 'codec'> {
    if (json === null || Buffer.byteLength(json) <= INLINE_RESULT_BYTES)
      return { resultJson: json, resultSha256: StepResult.sha256(json, codec), blobId: null, codec };
    return { resultJson: null, resultSha256: null, blobId: this.#blobs.put(Buffer.from(json)), codec };
  }

  #resultOf(row: StepRow): unknown {
    const { resultJson, blobId } = row;
    assertUndamaged(row);
    const json = blobId === null ? resultJson : Buffer.from(this.#blobs.get(blobId)).toString('utf8');
    return json === null ? undefined : (JSON.parse(json) as unknown);
  }

  #fenced<T>(fence: Fence, work: () => T): T {
    return withinTransaction(this.#db, () => {
      fence.assertInTx();
      return work();
    });
  }
}

function usageColumns({ tokensIn, tokensOut, costUsd, unpriced, requests }: StepUsage): object {
  return {
    tokensIn: tokensIn ?? null,
    tokensOut: tokensOut ?? null,
    costUsd: costUsd ?? null,
    unpriced: unpriced ?? 0,
    requests: requests ?? 0,
  };
}

function rowUsage({ tokensIn, tokensOut, costUsd, unpriced }: StepSummaryRow): StepUsage {
  return {
    ...(tokensIn !== null && { tokensIn }),
    ...(tokensOut !== null && { tokensOut }),
    ...(costUsd !== null && { costUsd }),
    ...(unpriced > 0 && { unpriced }),
  };
}

function stepSummary(row: StepSummaryRow): StepSummary {
  const { threadId, lgTaskId, name, node, taskId, kind, state, attempt, startedAt, finishedAt } = row;
  return {
    ...{ threadId, lgTaskId, name, node, taskId, kind, state, attempt },
    usage: rowUsage(row),
    requests: row.requests,
    startedAt,
    finishedAt,
  };
}

function assertUndamaged(row: StepRow): void {
  const { resultJson, resultSha256, blobId, codec } = row;
  const isKnown = codec === null || codec === ENCODED;
  const isIntact = blobId !== null || StepResult.sha256(resultJson, codec) === resultSha256;
  if (!isKnown || !isIntact) throw damagedResult(row);
}

function normalizedStepKey({ threadId, lgTaskId, name }: StepKey): StepKey {
  return { threadId, lgTaskId, name };
}

/** What a call is told as its key: the same in every execution of its visit. */
export const stepKeyOf = ({ threadId, lgTaskId, name }: StepKey): string => `${threadId}/${lgTaskId}/${name}`;
