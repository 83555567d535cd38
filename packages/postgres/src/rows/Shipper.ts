import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { DevsError, type Gate } from '@devs/core';
import type { Pool } from 'pg';
import { WorkerMeters } from '../cluster/metrics.ts';
import { driveFault, type Patience, retryWhileAway } from '../server/faults.ts';
import { DEAD_AFTER_MS } from '../server/Owner.ts';
import { quoteIdentifier } from '../server/Tables.ts';
import { eventRows, eventsSql, type GateEvent } from './gateEventRows.ts';
import { gateRows, gatesSql } from './gateRows.ts';

/** Who has changes of a run's file to send. */
export interface Sender {
  readonly runId: string;
  /** Of the claim it is made under: no other one has it. */
  readonly lease: string;
  /** What is to be sent, all that there is by now; `null` for nothing. Asked when there is room for it in a statement. */
  pack(): Shipment | null;
}

/** A change of a run's file, on its way. */
export interface Shipment {
  /** The next of its run, from 1. */
  readonly seq: number;
  readonly bytes: Uint8Array;
  /** Every open question of the file after it; `null` where they are as they were. */
  readonly gates: readonly Gate[] | null;
  /** Events about its gates since the last change. @defaultValue an empty list */
  readonly events?: readonly GateEvent[];
  /** Whether it has a checkpoint or a recorded result: the run's deaths are counted anew. @defaultValue false */
  readonly isProgress?: boolean;
}

export interface ShipperOptions {
  readonly schema: string;
  readonly patience: Patience;
  readonly meters?: WorkerMeters;
  /** Whether a pooler is in between, which need not know a statement again by its name: it is planned anew each time then. */
  readonly isPooled: boolean;
}

/** In one statement, bytes; a larger change goes in parts. */
const BATCH_BYTES = 8 * 1024 * 1024;

/** Half of the time after which a process that stands still is dead, ms. */
const STALE_MS = DEAD_AFTER_MS / 2;

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

interface WaitingShipment {
  readonly sender: Sender;
  readonly arrived: () => void;
  readonly failed: (error: unknown) => void;
}

type Packed = WaitingShipment & Shipment & Pick<Sender, 'runId' | 'lease'>;

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
  readonly #isPooled: boolean;
  readonly #waiting: WaitingShipment[] = [];
  #left: Packed | null = null;
  #isSending = false;

  constructor(pool: Pool, { schema, patience, meters = new WorkerMeters(), isPooled }: ShipperOptions) {
    this.#pool = pool;
    this.#schema = quoteIdentifier(schema);
    this.#patience = patience;
    this.#meters = meters;
    this.#isPooled = isPooled;
  }

  /**
   * Resolves when what the sender packs is durable.
   *
   * @throws DevsError `LEASE_LOST` if somebody else has the run; `STATE_IO` if PostgreSQL stays away; what `pack` throws.
   */
  ship(sender: Sender): Promise<void> {
    return new Promise((arrived, failed) => {
      this.#waiting.push({ sender, arrived, failed });
      if (this.#isSending) return;
      this.#isSending = true;
      void this.#sendAll();
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0 || this.#left !== null) {
      await this.#allWait();
      const batch = this.#packed();
      if (batch.length === 0) continue;
      await this.#send(batch).catch((error: unknown) => {
        for (const { failed } of batch) failed(driveFault(error));
      });
    }
    this.#isSending = false;
  }

  /** Until no run of the process can go on without an arrival: what they all wait for goes in one statement. */
  async #allWait(): Promise<void> {
    for (let waiting = 0; waiting < this.#waiting.length; ) {
      waiting = this.#waiting.length;
      await turnOfTheLoop();
    }
  }

  async #send(batch: readonly Packed[]): Promise<void> {
    const kept = await retryWhileAway(() => this.#ask(batch), this.#patience);
    for (const each of batch) {
      if (kept.has(each.runId)) each.arrived();
      else each.failed(lost(each));
    }
  }

  /**
   * Who stood still may read an answer of a time when the run was still his: one that took long is asked for again, and what was
   * kept is found there if nobody has the run since.
   */
  async #ask(batch: readonly Packed[]): Promise<ReadonlySet<string>> {
    const askedAt = performance.now();
    const kept = await this.#append(batch);
    const ms = performance.now() - askedAt;
    this.#meters.shipped({ ms, runs: batch.length, bytes: sum(batch.map(({ bytes }) => bytes.length)) });
    return ms < STALE_MS ? kept : this.#append(batch);
  }

  /** One of each run, up to the size of a statement: what does not fit is the first of the next one. */
  #packed(): readonly Packed[] {
    const batch: Packed[] = this.#left === null ? [] : [this.#left];
    this.#left = null;
    const runs = new Set(batch.map(({ runId }) => runId));
    let bytes = sum(batch.map((each) => each.bytes.length));
    while (bytes < BATCH_BYTES) {
      const at = this.#waiting.findIndex(({ sender }) => !runs.has(sender.runId));
      const [next] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (next === undefined) break;
      const packed = pack(next);
      if (packed === null) continue;
      bytes += packed.bytes.length;
      if (batch.length > 0 && bytes > BATCH_BYTES) this.#left = packed;
      else batch.push(packed);
      runs.add(packed.runId);
    }
    return batch;
  }

  /** The runs whose change is there. */
  async #append(batch: readonly Packed[]): Promise<ReadonlySet<string>> {
    const [first] = batch;
    const isLarge = first !== undefined && first.bytes.length > BATCH_BYTES;
    const sent = isLarge ? [{ ...first, bytes: await this.#putAhead(first) }] : batch;
    const gates = sent.flatMap((each) => (each.gates === null ? [] : { ...each, gates: each.gates }));
    const events = eventRows(sent);
    const values: unknown[] = [...parametersOf(sent)];
    if (gates.length > 0) values.push(gateRows(gates));
    if (events !== null) values.push(events);
    const shape = { isLarge, withGates: gates.length > 0, withEvents: events !== null };
    const { rows } = await this.#pool.query<{ run_id: string }>({
      ...(!this.#isPooled && {
        name: `devs_append${isLarge ? '_large' : ''}${shape.withGates ? '_gates' : ''}${events === null ? '' : '_events'}`,
      }),
      ...{ text: appendSql(this.#schema, shape), values },
    });
    return new Set(rows.map(({ run_id }) => run_id));
  }

  /** Puts the beginning of a large change beside the others: nobody reads it before its end comes, which is what is left. */
  async #putAhead({ runId, lease, seq, bytes }: Packed): Promise<Uint8Array> {
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

/** `null` where there is nothing to send: all of it has arrived. */
function pack({ sender, arrived, failed }: WaitingShipment): Packed | null {
  const { runId, lease } = sender;
  try {
    const shipment = sender.pack();
    if (shipment !== null) return { ...shipment, runId, lease, sender, arrived, failed };
    arrived();
  } catch (error) {
    failed(error);
  }
  return null;
}

/** One buffer for all changes: `pg` sends that as it is, an array of them as text. */
function parametersOf(batch: readonly Packed[]): readonly unknown[] {
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
    batch.map(({ isProgress }) => isProgress === true),
    starts,
    lengths,
    Buffer.concat(batch.map(({ bytes }) => bytes)),
  ];
}

interface AppendShape {
  readonly isLarge: boolean;
  readonly withGates: boolean;
  readonly withEvents: boolean;
}

/** What is there already, because the answer to it was lost, is told like what is added. */
const appendSql = (schema: string, { isLarge, withGates, withEvents }: AppendShape): string => `
WITH sent AS (
  SELECT * FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::boolean[], $5::boolean[], $6::int[], $7::int[])
    AS s (run_id, lease, seq, has_gates, is_progress, start, length)
), held AS (
  UPDATE ${schema}.runs r SET head_seq = s.seq,
    deaths = CASE WHEN s.is_progress THEN 0 ELSE r.deaths END,
    early_deaths = CASE WHEN s.is_progress THEN 0 ELSE r.early_deaths END FROM sent s
  WHERE r.run_id = s.run_id AND r.lease = s.lease AND r.head_seq = s.seq - 1
  RETURNING r.run_id, r.tenant, s.has_gates
), there AS (
  SELECT s.run_id FROM sent s JOIN ${schema}.runs r USING (run_id) WHERE r.lease = s.lease AND r.head_seq = s.seq
), ${withGates ? `${gatesSql(schema, { json: '$9', reopens: false })}, ` : ''}${
  withEvents ? `${eventsSql(schema, withGates ? '$10' : '$9')}, ` : ''
}added AS (
  INSERT INTO ${schema}.run_changes (run_id, seq, bytes)
  SELECT s.run_id, s.seq, ${isLarge ? ahead(schema) : ''} substring($8::bytea FROM s.start + 1 FOR s.length)
  FROM sent s JOIN held USING (run_id)
  RETURNING run_id
)
SELECT run_id FROM added UNION ALL SELECT run_id FROM there`;

const ahead = (schema: string): string =>
  `(SELECT string_agg(p.bytes, ''::bytea ORDER BY p.part) FROM ${schema}.run_parts p
    WHERE p.run_id = s.run_id AND p.lease = s.lease AND p.seq = s.seq) ||`;

export function lost({ runId }: Pick<Sender, 'runId'>): DevsError {
  return new DevsError(`The lease on run "${runId}" is lost: another worker has the run or its base.`, {
    code: 'LEASE_LOST',
    remedy: 'Nothing was written. Let the other worker continue the run.',
    // No `threadId`: what is lost is the file, with the child runs in it.
    context: { runId },
  });
}
