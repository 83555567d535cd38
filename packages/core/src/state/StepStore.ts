import type { Database, Statement } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { BlobStore } from './BlobStore.ts';
import { canonicalJson, sha256Hex } from './canonicalJson.ts';
import type { Fence } from './Fence.ts';
import { immediately } from './immediately.ts';
import type { StoreOptions } from './StoreOptions.ts';
import type {
  MovedVisit,
  NewStep,
  RecordedStep,
  RunCost,
  Spending,
  StepKey,
  StepSummary,
  StepTimes,
  StepUsage,
} from './stepRecords.ts';
import * as sql from './stepSql.ts';

export type * from './stepRecords.ts';
export { isOfVisit } from './stepRecords.ts';

/** Results up to this many bytes lie in the row; larger ones in a blob. */
const INLINE_RESULT_BYTES = 8 * 1024;

/**
 * Results of durable steps. A step is finished when its row is committed; a finished step is never begun again,
 * one that was in flight at a crash is, and its row says how often.
 */
export class StepStore {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #blobs: BlobStore;
  readonly #select: Statement<[StepKey], sql.StepRow>;
  readonly #selectTimes: Statement<[StepKey], StepTimes>;
  readonly #selectVisit: Statement<[Pick<MovedVisit, 'threadId' | 'visitId'>], number>;
  readonly #selectForThread: Statement<[string], sql.StepRow>;
  readonly #sumCost: Statement<[string], RunCost>;
  readonly #sumSpending: Statement<[object], Spending>;
  readonly #intend: Statement<[object], number>;
  readonly #finish: Statement<[object]>;
  readonly #moveVisit: Statement<[MovedVisit]>;
  readonly #fail: Statement<[object]>;
  readonly #abandon: Statement<[string]>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { now = Date.now }: StoreOptions = {}) {
    this.#db = db;
    this.#now = now;
    this.#blobs = new BlobStore(db);
    this.#select = db.prepare(sql.SELECT);
    this.#selectTimes = db.prepare(sql.SELECT_TIMES);
    this.#selectVisit = db.prepare<[object], number>(sql.SELECT_VISIT).pluck();
    this.#selectForThread = db.prepare(sql.SELECT_FOR_THREAD);
    this.#sumCost = db.prepare(sql.SUM_COST);
    this.#sumSpending = db.prepare(sql.SUM_SPENDING);
    this.#intend = db.prepare<[object], number>(sql.INTEND).pluck();
    this.#finish = db.prepare(sql.FINISH);
    this.#fail = db.prepare(sql.FAIL);
    this.#abandon = db.prepare(sql.ABANDON);
    this.#moveVisit = db.prepare(sql.MOVE_VISIT);
  }

  /** @throws DevsError `STATE_CORRUPT` if the result is damaged. */
  find(step: StepKey): RecordedStep | null {
    const row = this.#select.get(keyOf(step));
    if (row === undefined) return null;
    const { state, attempt } = row;
    if (state !== 'done') return { state, attempt };
    return {
      state,
      attempt,
      result: this.#resultOf(row),
      usage: sql.usageOf(row),
      finishedAt: row.finishedAt ?? 0,
    };
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
    const values = { ...keyOf(step), node, taskId, kind, ...reserve, now: this.#now() };
    return this.#fenced(fence, () => {
      const attempt = this.#intend.get(values);
      if (attempt !== undefined) return attempt;
      throw new RangeError(`Step "${step.name}" of "${node}" is finished; find() has its result.`);
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
      const values = { ...keyOf(step), ...this.#place(json), ...sql.usageColumns(usage), now: this.#now() };
      if (this.#finish.run(values).changes === 1) return;
      throw new RangeError(`Step "${step.name}" has no open intent; call intent() first.`);
    });
  }

  /** Records that a step threw, and what it had cost by then. It is begun again when its node is. */
  fail(step: StepKey, usage: StepUsage, fence: Fence): void {
    this.#fenced(fence, () => this.#fail.run({ ...keyOf(step), ...sql.usageColumns(usage) }));
  }

  /** Gives up the steps of a run that were begun and have no result: the visits they belong to do not go on. */
  abandon(threadId: string): void {
    this.#abandon.run(threadId);
  }

  /** `null` for a step that was never begun. */
  timesOf(step: StepKey): StepTimes | null {
    return this.#selectTimes.get(keyOf(step)) ?? null;
  }

  /** Whether any step of this visit of a node was ever begun, in whatever place inside. */
  hasVisit(threadId: string, visitId: string): boolean {
    return this.#selectVisit.get({ threadId, visitId }) !== undefined;
  }

  /** Hands the steps of a visit to the one that takes its place, so that their calls are not made again. */
  moveVisit(visit: MovedVisit): void {
    this.#moveVisit.run(visit);
  }

  /** Steps of a run, oldest first. */
  listForThread(threadId: string): readonly StepSummary[] {
    return this.#selectForThread.all(threadId).map(sql.summaryOf);
  }

  costOf(threadId: string): RunCost {
    return this.#sumCost.get(threadId) ?? sql.NO_COST;
  }

  /** What a step that is about to be made finds spent and held back, by its run or, with `taskId`, by one task. */
  spendingBefore(step: StepKey, taskId: string | null): Spending {
    return this.#sumSpending.get({ ...keyOf(step), taskId }) ?? sql.NO_SPENDING;
  }

  #place(json: string | null): Pick<sql.StepRow, 'resultJson' | 'resultSha256' | 'blobId'> {
    if (json === null) return { resultJson: null, resultSha256: null, blobId: null };
    if (Buffer.byteLength(json) <= INLINE_RESULT_BYTES)
      return { resultJson: json, resultSha256: sha256Hex(json), blobId: null };
    return { resultJson: null, resultSha256: null, blobId: this.#blobs.put(Buffer.from(json)) };
  }

  #resultOf(row: sql.StepRow): unknown {
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
function assertUndamaged({ threadId, name, resultJson, resultSha256 }: sql.StepRow): void {
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
