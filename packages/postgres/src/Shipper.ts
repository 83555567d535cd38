import { DevsError, type Gate } from '@devs/core';
import type { Pool } from 'pg';
import { gateRows, gatesSql } from './gateRows.ts';
import { insist, type Patience } from './insist.ts';
import { DEAD_AFTER_MS } from './Owner.ts';
import { pgFault } from './pgFault.ts';
import { quoted } from './schema.ts';
import { WorkerMeters } from './WorkerMeters.ts';

/** A change of a run's file, on its way. */
export interface Shipment {
  readonly runId: string;
  /** Of the claim it is made under: no other one has it. */
  readonly lease: string;
  /** The next of its run, from 1. */
  readonly seq: number;
  readonly bytes: Uint8Array;
  /** Every open question of the file after it; `null` where they are as they were. */
  readonly gates: readonly Gate[] | null;
}

/** In one statement, bytes; a larger change goes in parts. */
const BATCH_BYTES = 8 * 1024 * 1024;

/** Half of the time after which a process that stands still is dead, ms. */
const STALE_MS = DEAD_AFTER_MS / 2;

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

interface Waiting extends Shipment {
  readonly arrived: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Sends the changes of all runs of a process, each run's in order, those that are there at the same time in one statement. A
 * change is kept only under the newest claim of its run and as the next one: who was taken over is told so, as is who has
 * what the server has lost, and the others of the statement are unharmed. One whose answer was lost is sent again, and found there.
 */
export class Shipper {
  readonly #pool: Pool;
  readonly #schema: string;
  readonly #patience: Patience;
  readonly #meters: WorkerMeters;
  readonly #waiting: Waiting[] = [];
  #isSending = false;

  constructor(pool: Pool, schema: string, patience: Patience, meters = new WorkerMeters()) {
    this.#pool = pool;
    this.#schema = quoted(schema);
    this.#patience = patience;
    this.#meters = meters;
  }

  /**
   * Resolves when the change is durable.
   *
   * @throws DevsError `LEASE_LOST` if somebody else has the run; `STATE_IO` if PostgreSQL stays away.
   */
  ship(shipment: Shipment): Promise<void> {
    return new Promise((arrived, failed) => {
      this.#waiting.push({ ...shipment, arrived, failed });
      if (this.#isSending) return;
      this.#isSending = true;
      queueMicrotask(() => void this.#sendAll()); // whoever commits in this tick goes along
    });
  }

  async #sendAll(): Promise<void> {
    for (let batch = this.#next(); batch.length > 0; batch = this.#next()) {
      await this.#send(batch).catch((error: unknown) => {
        for (const each of batch) this.#fail(each, pgFault(error));
      });
    }
    this.#isSending = false;
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const kept = await insist(() => this.#ask(batch), this.#patience);
    for (const each of batch) {
      if (kept.has(each.runId)) each.arrived();
      else this.#fail(each, lost(each));
    }
  }

  /**
   * Who stood still may read an answer of a time when the run was still his: one that took long is asked for again, and what was
   * kept is found there if nobody has the run since.
   */
  async #ask(batch: readonly Waiting[]): Promise<ReadonlySet<string>> {
    const askedAt = performance.now();
    const kept = await this.#append(batch);
    const ms = performance.now() - askedAt;
    this.#meters.shipped({ ms, runs: batch.length, bytes: sum(batch.map(({ bytes }) => bytes.length)) });
    return ms < STALE_MS ? kept : this.#append(batch);
  }

  /** What comes after a change that is not kept never is. */
  #fail({ lease, failed }: Waiting, error: unknown): void {
    failed(error);
    for (const each of this.#waiting.filter((other) => other.lease === lease)) {
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

  /** The runs whose change is there. */
  async #append(batch: readonly Waiting[]): Promise<ReadonlySet<string>> {
    const [first] = batch;
    const isLarge = first !== undefined && first.bytes.length > BATCH_BYTES;
    const sent = isLarge ? [{ ...first, bytes: await this.#putAhead(first) }] : batch;
    const gates = sent.flatMap((each) => (each.gates === null ? [] : { ...each, gates: each.gates }));
    const values = [...parametersOf(sent), ...(gates.length > 0 ? [gateRows(gates)] : [])];
    const { rows } = await this.#pool.query<{ run_id: string }>(
      appendSql(this.#schema, { isLarge, withGates: gates.length > 0 }),
      values,
    );
    return new Set(rows.map(({ run_id }) => run_id));
  }

  /** Puts the beginning of a large change beside the others: nobody reads it before its end comes, which is what is left. */
  async #putAhead({ runId, lease, seq, bytes }: Shipment): Promise<Uint8Array> {
    const parts = Math.ceil(bytes.length / BATCH_BYTES);
    for (let part = 0; part < parts - 1; part += 1) {
      const piece = bytes.subarray(part * BATCH_BYTES, (part + 1) * BATCH_BYTES);
      await this.#pool.query(
        `INSERT INTO ${this.#schema}.run_parts (run_id, lease, seq, part, bytes)
         SELECT run_id, lease, $3::bigint, $4::int, $5::bytea FROM ${this.#schema}.runs WHERE run_id = $1 AND lease = $2
         ON CONFLICT (run_id, lease, seq, part) DO UPDATE SET bytes = excluded.bytes`,
        [runId, lease, seq, part, Buffer.from(piece)],
      );
    }
    return bytes.subarray((parts - 1) * BATCH_BYTES);
  }
}

/** One buffer for all changes: `pg` sends that as it is, an array of them as text. */
function parametersOf(batch: readonly Shipment[]): readonly unknown[] {
  const lengths = batch.map(({ bytes }) => bytes.length);
  let end = 0;
  const starts = lengths.map((length) => {
    end += length;
    return end - length;
  });
  return [
    batch.map(({ runId }) => runId),
    batch.map(({ lease }) => lease),
    batch.map(({ seq }) => seq),
    batch.map(({ gates }) => gates !== null),
    starts,
    lengths,
    Buffer.concat(batch.map(({ bytes }) => bytes)),
  ];
}

/** What is there already, because the answer to it was lost, is told like what is added. */
const appendSql = (
  schema: string,
  { isLarge, withGates }: { readonly isLarge: boolean; readonly withGates: boolean },
): string => `
WITH sent AS (
  SELECT * FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::boolean[], $5::int[], $6::int[])
    AS s (run_id, lease, seq, has_gates, start, length)
), held AS (
  UPDATE ${schema}.runs r SET head_seq = s.seq FROM sent s
  WHERE r.run_id = s.run_id AND r.lease = s.lease AND r.head_seq = s.seq - 1
  RETURNING r.run_id, r.tenant, s.has_gates
), there AS (
  SELECT s.run_id FROM sent s JOIN ${schema}.runs r USING (run_id) WHERE r.lease = s.lease AND r.head_seq = s.seq
), ${withGates ? `${gatesSql(schema, { json: '$8', reopens: false })}, ` : ''}added AS (
  INSERT INTO ${schema}.run_changes (run_id, seq, bytes)
  SELECT s.run_id, s.seq, ${isLarge ? ahead(schema) : ''} substring($7::bytea FROM s.start + 1 FOR s.length)
  FROM sent s JOIN held USING (run_id)
  RETURNING run_id
)
SELECT run_id FROM added UNION ALL SELECT run_id FROM there`;

const ahead = (schema: string): string =>
  `(SELECT string_agg(p.bytes, ''::bytea ORDER BY p.part) FROM ${schema}.run_parts p
    WHERE p.run_id = s.run_id AND p.lease = s.lease AND p.seq = s.seq) ||`;

export function lost({ runId }: Pick<Shipment, 'runId'>): DevsError {
  return new DevsError(`The lease on run "${runId}" is lost: another worker has it, or what it rests on.`, {
    code: 'LEASE_LOST',
    remedy: 'Nothing was written; let the worker that holds the run go on.',
    context: { runId },
  });
}
