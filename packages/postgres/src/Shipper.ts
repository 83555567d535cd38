import { setTimeout as sleep } from 'node:timers/promises';
import { DevsError } from '@devs/core';
import type { Pool } from 'pg';
import { isAway } from './isAway.ts';
import { quoted } from './schema.ts';

/** A change of a run's file, on its way. */
export interface Shipment {
  readonly runId: string;
  readonly epoch: number;
  /** The next of its run, from 1. */
  readonly seq: number;
  readonly bytes: Uint8Array;
}

export interface ShipperOptions {
  readonly schema: string;
  /** How long PostgreSQL may be away before a drive fails, ms. @defaultValue 60,000 */
  readonly awayMs?: number;
}

/** In one statement, bytes. */
const BATCH_BYTES = 8 * 1024 * 1024;
/** Between two tries where PostgreSQL is away, ms: doubled up to the last. */
const FIRST_GAP_MS = 50;
const LAST_GAP_MS = 2000;

interface Waiting extends Shipment {
  readonly arrived: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Sends the changes of all runs of a process, each run's in order, those that are there at the same time in one statement. A
 * change is kept only under the newest epoch of its run and as the next one: who was taken over is told so, the others of
 * the statement are unharmed. One whose answer was lost is sent again, and found there.
 */
export class Shipper {
  readonly #pool: Pool;
  readonly #append: string;
  readonly #awayMs: number;
  readonly #waiting: Waiting[] = [];
  #isSending = false;

  constructor(pool: Pool, { schema, awayMs = 60_000 }: ShipperOptions) {
    this.#pool = pool;
    this.#append = appendSql(quoted(schema));
    this.#awayMs = awayMs;
  }

  /**
   * Resolves when the change is durable.
   *
   * @throws DevsError `LEASE_LOST` if somebody else has the run; `STATE_IO` if PostgreSQL stays away.
   */
  ship(shipment: Shipment): Promise<void> {
    return new Promise((arrived, failed) => {
      this.#waiting.push({ ...shipment, arrived, failed });
      if (!this.#isSending) void this.#send();
    });
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    await null; // whoever commits in this tick goes along
    for (let batch = this.#next(); batch.length > 0; batch = this.#next()) {
      try {
        const kept = await this.#insist(batch);
        for (const each of batch) {
          if (kept.has(each.runId)) each.arrived();
          else this.#fail(each, lost(each));
        }
      } catch (error) {
        for (const each of batch) this.#fail(each, error);
      }
    }
    this.#isSending = false;
  }

  /** What comes after a change that is not kept never is. */
  #fail({ runId, epoch, failed }: Waiting, error: unknown): void {
    failed(error);
    for (const each of this.#waiting.filter((other) => other.runId === runId && other.epoch === epoch)) {
      this.#waiting.splice(this.#waiting.indexOf(each), 1);
      each.failed(error);
    }
  }

  /** The first of each run, up to the size of a statement. */
  #next(): readonly Waiting[] {
    const batch: Waiting[] = [];
    const runs = new Set<string>();
    let bytes = 0;
    for (const each of this.#waiting) {
      if (runs.has(each.runId)) continue;
      if (bytes > 0 && bytes + each.bytes.length > BATCH_BYTES) break;
      runs.add(each.runId);
      batch.push(each);
      bytes += each.bytes.length;
    }
    for (const each of batch) this.#waiting.splice(this.#waiting.indexOf(each), 1);
    return batch;
  }

  async #insist(batch: readonly Waiting[]): Promise<ReadonlySet<string>> {
    const until = performance.now() + this.#awayMs;
    for (let gapMs = FIRST_GAP_MS; ; gapMs = Math.min(2 * gapMs, LAST_GAP_MS)) {
      try {
        const { rows } = await this.#pool.query<{ run_id: string }>(this.#append, parametersOf(batch));
        return new Set(rows.map(({ run_id }) => run_id));
      } catch (error) {
        if (!isAway(error)) throw error;
        if (performance.now() + gapMs > until) throw stayedAway(error);
        await sleep(gapMs);
      }
    }
  }
}

/** One buffer for all changes: `pg` sends that as it is, an array of them as text. */
function parametersOf(batch: readonly Waiting[]): unknown[] {
  const lengths = batch.map(({ bytes }) => bytes.length);
  let end = 0;
  const starts = lengths.map((length) => {
    end += length;
    return end - length;
  });
  return [
    batch.map(({ runId }) => runId),
    batch.map(({ epoch }) => epoch),
    batch.map(({ seq }) => seq),
    starts,
    lengths,
    Buffer.concat(batch.map(({ bytes }) => bytes)),
  ];
}

const appendSql = (schema: string): string => `
WITH sent AS (
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::int[], $5::int[]) AS s (run_id, epoch, seq, start, length)
), held AS (
  UPDATE ${schema}.runs r SET head_seq = s.seq FROM sent s
  WHERE r.run_id = s.run_id AND r.epoch = s.epoch AND r.head_seq = s.seq - 1
  RETURNING r.run_id
), there AS (
  SELECT s.run_id FROM sent s JOIN ${schema}.runs r USING (run_id) WHERE r.epoch = s.epoch AND r.head_seq = s.seq
), added AS (
  INSERT INTO ${schema}.run_changes (run_id, seq, bytes)
  SELECT s.run_id, s.seq, substring($6::bytea FROM s.start + 1 FOR s.length) FROM sent s JOIN held USING (run_id)
  RETURNING run_id
)
SELECT run_id FROM added UNION ALL SELECT run_id FROM there`;

function lost({ runId, epoch }: Shipment): DevsError {
  return new DevsError(`The lease on run "${runId}" with epoch ${epoch} is lost: another worker has it.`, {
    code: 'LEASE_LOST',
    remedy: 'Nothing was written; let the worker that holds the run go on.',
    context: { runId, epoch },
  });
}

function stayedAway(cause: unknown): DevsError {
  return new DevsError('PostgreSQL cannot be reached.', {
    code: 'STATE_IO',
    remedy: 'The run goes on from what has arrived, when PostgreSQL is back.',
    cause,
  });
}
