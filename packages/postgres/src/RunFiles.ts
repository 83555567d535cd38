import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import type { Pool, PoolClient } from 'pg';
import { decodeChange } from './change.ts';
import { FileImage } from './FileImage.ts';
import { quoted } from './schema.ts';

const [deflated, inflated] = [promisify(deflate), promisify(inflate)];

/** Of a base in one row, bytes. */
const PART_BYTES = 1024 * 1024;

/** A run that is to be. */
export interface NewRun {
  readonly runId: string;
  readonly tenant: string;
  /** Who takes it: workers that have its graph, in its shape. */
  readonly queue: string;
  /** Of the tables in its file. */
  readonly schemaVersion: number;
  /** Its whole file. */
  readonly file: Uint8Array;
}

/** A run whose newest epoch is the caller's. */
export interface Claim {
  readonly runId: string;
  readonly epoch: number;
  /** Of the last change that arrived. */
  readonly seq: number;
  /** Of the base that the changes begin at. */
  readonly baseSeq: number;
}

/** The files of runs, each as a base and the changes since: `runs`, `run_bases`, `run_changes`. */
export class RunFiles {
  readonly #pool: Pool;
  readonly #schema: string;

  constructor(pool: Pool, schema: string) {
    this.#pool = pool;
    this.#schema = quoted(schema);
  }

  /** False if there is a run of that name already: it stays as it is. */
  async create({ runId, tenant, queue, schemaVersion, file }: NewRun): Promise<boolean> {
    const bytes = await deflated(file);
    return this.#transaction(async (client) => {
      const { rowCount } = await client.query(
        `INSERT INTO ${this.#schema}.runs (run_id, tenant, queue, schema_version, status)
         VALUES ($1, $2, $3, $4, 'recorded') ON CONFLICT DO NOTHING`,
        [runId, tenant, queue, schemaVersion],
      );
      if (rowCount === 0) return false;
      await this.#insertBase(client, { runId, seq: 0, bytes });
      return true;
    });
  }

  /**
   * Makes the caller the one who may change a run, and whoever was it before not; `null` if there is no such run that a
   * release with these tables can read. What had arrived until then is all that it has.
   */
  async claim(runId: string, owner: string, schemaVersion: number): Promise<Claim | null> {
    const { rows } = await this.#pool.query<{ epoch: string; head_seq: string; base_seq: string }>(
      `UPDATE ${this.#schema}.runs SET epoch = epoch + 1, owner = $2, updated_at = now()
       WHERE run_id = $1 AND schema_version <= $3 RETURNING epoch, head_seq, base_seq`,
      [runId, owner, schemaVersion],
    );
    const [row] = rows;
    if (row === undefined) return null;
    return { runId, epoch: Number(row.epoch), seq: Number(row.head_seq), baseSeq: Number(row.base_seq) };
  }

  /** The file of a run as of its last arrival, or of `at`, at one moment. */
  async read(runId: string): Promise<FileImage | null> {
    const { rows } = await this.#pool.query<{ is_base: boolean; bytes: Buffer }>(
      `SELECT true AS is_base, b.part AS at, b.bytes FROM ${this.#schema}.runs r
         JOIN ${this.#schema}.run_bases b ON b.run_id = r.run_id AND b.seq = r.base_seq WHERE r.run_id = $1
       UNION ALL
       SELECT false, c.seq, c.bytes FROM ${this.#schema}.runs r
         JOIN ${this.#schema}.run_changes c ON c.run_id = r.run_id AND c.seq > r.base_seq WHERE r.run_id = $1
       ORDER BY is_base DESC, at`,
      [runId],
    );
    const parts = rows.filter(({ is_base }) => is_base);
    if (parts.length === 0) return null;
    const image = new FileImage(await inflated(Buffer.concat(parts.map(({ bytes }) => bytes))));
    for (const { bytes } of rows.slice(parts.length)) image.apply(decodeChange(bytes));
    return image;
  }

  /** Puts `file`, which has all changes up to `seq`, in the place of them; false for who was taken over. */
  async compact({ runId, epoch }: Claim, seq: number, file: Uint8Array): Promise<boolean> {
    const bytes = await deflated(file);
    return this.#transaction(async (client) => {
      const { rowCount } = await client.query(
        `UPDATE ${this.#schema}.runs SET base_seq = $3 WHERE run_id = $1 AND epoch = $2 AND head_seq >= $3`,
        [runId, epoch, seq],
      );
      if (rowCount === 0) return false;
      await client.query(`DELETE FROM ${this.#schema}.run_bases WHERE run_id = $1`, [runId]);
      await this.#insertBase(client, { runId, seq, bytes });
      await client.query(`DELETE FROM ${this.#schema}.run_changes WHERE run_id = $1 AND seq <= $2`, [
        runId,
        seq,
      ]);
      return true;
    });
  }

  async #insertBase(
    client: PoolClient,
    { runId, seq, bytes }: { readonly runId: string; readonly seq: number; readonly bytes: Buffer },
  ): Promise<void> {
    for (let part = 0; part * PART_BYTES < bytes.length; part += 1) {
      await client.query(
        `INSERT INTO ${this.#schema}.run_bases (run_id, seq, part, bytes) VALUES ($1, $2, $3, $4)`,
        [runId, seq, part, bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES)],
      );
    }
  }

  async #transaction<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    let broken = true;
    try {
      await client.query('BEGIN');
      const result = await work(client);
      await client.query('COMMIT');
      broken = false;
      return result;
    } catch (error) {
      await client.query('ROLLBACK').then(
        () => (broken = false),
        () => undefined,
      );
      throw error;
    } finally {
      client.release(broken);
    }
  }
}
