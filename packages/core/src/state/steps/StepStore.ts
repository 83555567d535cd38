import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import { BlobStore } from '../blobs/BlobStore.ts';
import type { Fence } from '../commits/Fence.ts';
import { withinTransaction } from '../commits/immediateTransaction.ts';
import { sealNumber, useSeals } from '../rows/rowSeals.ts';
import type { StoreOptions } from '../rows/StoreOptions.ts';
import {
  damagedResult,
  ENCODED,
  type NewStep,
  REFUSED,
  type Refusal,
  type RenamedExecution,
  type ResultCodec,
  type RunCost,
  readRefusal,
  type StepKey,
  type StepOnRecord,
  StepResult,
  type StepSummary,
  type StepTimes,
  type StepUsage,
  type TurnSpending,
} from './stepRecords.ts';
import * as sql from './stepSql.ts';

export type * from './stepRecords.ts';
export type { Refusal, ResultCodec, StepResult } from './stepRecords.ts';
export { isOfExecution } from './stepRecords.ts';

export interface StepStoreOptions extends StoreOptions {
  /** For results that are more than JSON. @defaultValue those are refused */
  readonly codec?: ResultCodec;
}

const NO_REFUSAL = { codec: null, resultJson: null, resultSha256: null, seal: null };

/** The visit, and the thread and namespace in which the graphs inside it keep their checkpoints. */
export interface UnfinishedInside {
  readonly threadId: string;
  readonly visitId: string;
  readonly frame: string;
  readonly checkpointNs: string;
}

/** Results up to this many bytes lie in the row; larger ones in a blob. */
const INLINE_RESULT_BYTES = 8 * 1024;

/**
 * Results of durable steps. A step is finished when its row is committed; a finished step is never begun again,
 * one that was in flight at a crash is, and its row says how often.
 */
export class StepStore {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #codec: ResultCodec | null;
  readonly #blobs: BlobStore;
  readonly #select: Statement<[StepKey], sql.StepRow>;
  readonly #selectTimes: Statement<[StepKey], StepTimes>;
  readonly #selectVisit: Statement<[Pick<RenamedExecution, 'threadId' | 'visitId'>], number>;
  readonly #selectUnfinished: Statement<[UnfinishedInside], number>;
  readonly #selectForThread: Statement<[string], sql.StepSummaryRow>;
  readonly #selectInFlight: Statement<[string, number], sql.StepSummaryRow>;
  readonly #sumCost: Statement<[string], RunCost>;
  readonly #sumSpending: Statement<[object], TurnSpending>;
  readonly #sumSpendingOfTask: Statement<[object], TurnSpending>;
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
    this.#select = prepare(db, sql.SELECT);
    this.#selectTimes = prepare(db, sql.SELECT_TIMES);
    this.#selectVisit = prepare<[object], number>(db, sql.SELECT_VISIT).pluck();
    this.#selectUnfinished = prepare<[UnfinishedInside], number>(db, sql.SELECT_UNFINISHED_INSIDE).pluck();
    this.#selectForThread = prepare(db, sql.SELECT_FOR_THREAD);
    this.#selectInFlight = prepare(db, sql.SELECT_IN_FLIGHT);
    this.#sumCost = prepare(db, sql.SUM_COST);
    this.#sumSpending = prepare(db, sql.SUM_SPENDING);
    this.#sumSpendingOfTask = prepare(db, sql.SUM_SPENDING_OF_TASK);
    this.#intend = prepare<[object], number>(db, sql.INTEND).pluck();
    this.#finish = prepare(db, sql.FINISH);
    this.#fail = prepare(db, sql.FAIL);
    this.#allowRefused = prepare(db, sql.ALLOW_REFUSED);
    this.#abandon = prepare(db, sql.ABANDON);
    this.#abandonIn = prepare(db, sql.ABANDON_IN);
    this.#selectIn = prepare(db, sql.SELECT_IN);
    this.#moveVisit = prepare(db, sql.MOVE_VISIT);
  }

  /** @throws DevsError `STATE_CORRUPT` if the result is damaged. */
  find(step: StepKey): StepOnRecord | null {
    const row = this.#select.get(normalizedStepKey(step));
    if (row === undefined) return null;
    const { state, attempt, codec, resultJson, resultSha256, seal } = row;
    if (seal !== null && seal !== sealNumber(sql.sealedColumns(row))) throw damagedResult(row);
    if (state !== 'done') {
      return { state, attempt, ...(codec === REFUSED && { refused: readRefusal(resultJson, resultSha256) }) };
    }
    return {
      state,
      attempt,
      result: this.#resultOf(row),
      ...(codec !== null && { codec }),
      usage: sql.rowUsage(row),
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
      const seal = sealNumber(sql.sealedColumns(done));
      const values = { ...done, seal, ...sql.usageColumns(usage), now: this.#now() };
      if (this.#finish.run(values).changes === 1) return;
      throw new RangeError(`Step "${step.name}" has no open intent; call intent() first.`);
    });
  }

  /** Records that a step threw, and what it had cost by then. It is begun again when its node is. */
  fail(step: StepKey, usage: StepUsage, fence: Fence): void {
    const values = { ...normalizedStepKey(step), ...sql.usageColumns(usage), ...NO_REFUSAL };
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
    const seal = sealNumber(sql.sealedColumns(refused));
    const values = { ...refused, resultJson, seal, ...sql.usageColumns(usage) };
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
    return this.#selectForThread.all(threadId).map(sql.stepSummary);
  }

  /** The step of a run that was begun last and has not ended, if it was not begun before `since`, in ms since the Unix epoch. */
  inFlight(threadId: string, since: number): StepSummary | null {
    const row = this.#selectInFlight.get(threadId, since);
    return row === undefined ? null : sql.stepSummary(row);
  }

  costOf(threadId: string): RunCost {
    return this.#sumCost.get(threadId) ?? sql.NO_COST;
  }

  /** What a step that is about to be made finds spent and held back in this turn, by its run or, with `taskId`, by one task. */
  spendingBefore(step: StepKey, taskId: string | null): TurnSpending {
    const sum = taskId === null ? this.#sumSpending : this.#sumSpendingOfTask;
    return sum.get({ ...normalizedStepKey(step), taskId }) ?? sql.NO_SPENDING;
  }

  #place({ json, codec }: StepResult): Pick<sql.StepRow, 'resultJson' | 'resultSha256' | 'blobId' | 'codec'> {
    if (json === null || Buffer.byteLength(json) <= INLINE_RESULT_BYTES)
      return { resultJson: json, resultSha256: StepResult.sha256(json, codec), blobId: null, codec };
    return { resultJson: null, resultSha256: null, blobId: this.#blobs.put(Buffer.from(json)), codec };
  }

  #resultOf(row: sql.StepRow): unknown {
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

function assertUndamaged(row: sql.StepRow): void {
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
