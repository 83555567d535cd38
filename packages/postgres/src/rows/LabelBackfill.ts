import { isDevsError } from '@devs/core';
import { runFile } from '@devs/core/internal';
import type { RunAtOnce, RunFiles } from '../files/RunFiles.ts';
import type { Tables } from '../server/Tables.ts';
import { insertLabelsSql, labelsJson } from './labelRows.ts';

/** Runs that were read, of those without labels. */
export interface LabelProgress {
  readonly done: number;
  readonly of: number;
}

/** A run with an unreadable file. */
export interface UnreadableRun {
  readonly id: string;
  readonly error: string;
}

interface Filled {
  readonly labelled: number;
  readonly unreadable: readonly UnreadableRun[];
}

/** Ids per query. */
const BATCH = 100;

/**
 * Copies labels of older runs from their files into their rows. One run is open at a time, and one statement stores its
 * labels: an interrupted migration continues with the remaining runs.
 */
export class LabelBackfill {
  readonly #tables: Tables;
  readonly #files: RunFiles;

  constructor(tables: Tables, files: RunFiles) {
    this.#tables = tables;
    this.#files = files;
  }

  /** @throws DevsError `STATE_IO` */
  async fill(onProgress: (progress: LabelProgress) => void): Promise<Filled> {
    const unreadable: UnreadableRun[] = [];
    const of = await this.#count();
    let [done, labelled] = [0, 0];
    for (
      let batch = await this.#after(null);
      batch.length > 0;
      batch = await this.#after(batch.at(-1) ?? '')
    ) {
      for (const id of batch) {
        const error = await this.#fillRun(id);
        if (error === null) labelled += 1;
        else unreadable.push({ id, error });
      }
      done += batch.length;
      onProgress({ done, of: Math.max(done, of) });
    }
    return { labelled, unreadable };
  }

  /** Returns the reason if its file is unreadable, else `null`. */
  async #fillRun(id: string): Promise<string | null> {
    try {
      const run = await this.#files.read(id);
      if (run === null) return null; // deleted meanwhile
      const values = [id, run.birth, labelsIn(id, run)];
      await this.#tables.query(fillSql(this.#tables.schema), values);
      return null;
    } catch (error) {
      if (error instanceof Unreadable || isDevsError(error, 'STATE_CORRUPT')) return error.message;
      throw error;
    }
  }

  async #count(): Promise<number> {
    const sql = `SELECT count(*) AS n FROM ${this.#tables.schema}.runs WHERE labels IS NULL`;
    const [row] = await this.#tables.query<{ n: string }>(sql, []);
    return Number(row?.n ?? 0);
  }

  async #after(id: string | null): Promise<readonly string[]> {
    const sql = `SELECT run_id FROM ${this.#tables.schema}.runs
      WHERE labels IS NULL AND ($1::text IS NULL OR run_id > $1) ORDER BY run_id LIMIT ${BATCH}`;
    const rows = await this.#tables.query<{ run_id: string }>(sql, [id]);
    return rows.map(({ run_id }) => run_id);
  }
}

/** The stored bytes are not a valid state file. */
class Unreadable extends Error {}

/** As JSON. */
function labelsIn(id: string, { image, start }: RunAtOnce): string {
  try {
    const db = runFile.openBytes(image.bytes);
    try {
      if (start !== null) runFile.begin(db, start.run, start.at);
      return labelsJson(runFile.labelsOf(db, id));
    } finally {
      db.close();
    }
  } catch (error) {
    throw new Unreadable((error as Error).message, { cause: error });
  }
}

/** Skips a run that was settled or replaced in the meantime. */
const fillSql = (schema: string): string => `
WITH held AS (
  UPDATE ${schema}.runs SET labels = $3 WHERE run_id = $1 AND birth = $2::uuid AND labels IS NULL
  RETURNING run_id, created_at, false AS is_labelled
), ${insertLabelsSql(schema, '$3')}
SELECT run_id FROM held`;
