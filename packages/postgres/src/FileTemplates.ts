import { DevsError } from '@devs/core';
import { newRunFile, SCHEMA_VERSION } from '@devs/core/runs';
import type { Tables } from './Tables.ts';

/**
 * Files that no run has written to yet, one of each version of their tables, of which all runs have most pages: what a run's
 * file has besides is kept of it. Stored by whoever needs one first, and never changed: `file_templates`.
 */
export class FileTemplates {
  readonly #tables: Tables;
  readonly #known = new Map<number, Promise<Uint8Array>>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** @throws DevsError `STATE_CORRUPT` for a version that nobody has stored; `STATE_IO` */
  of(version: number): Promise<Uint8Array> {
    const known = this.#known.get(version);
    if (known !== undefined) return known;
    const read = this.#read(version);
    this.#known.set(version, read);
    read.catch(() => this.#known.delete(version));
    return read;
  }

  async #read(version: number): Promise<Uint8Array> {
    const stored = (await this.#stored(version)) ?? (version === SCHEMA_VERSION ? await this.#store() : null);
    if (stored === null) throw missing(version);
    return stored;
  }

  async #stored(version: number): Promise<Uint8Array | null> {
    const { schema } = this.#tables;
    const rows = await this.#tables.query<{ bytes: Buffer }>(
      `SELECT bytes FROM ${schema}.file_templates WHERE version = $1`,
      [version],
    );
    return rows[0]?.bytes ?? null;
  }

  async #store(): Promise<Uint8Array | null> {
    const db = newRunFile();
    const bytes = db.serialize();
    db.close();
    await this.#tables.query(
      `INSERT INTO ${this.#tables.schema}.file_templates (version, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
      [SCHEMA_VERSION, bytes],
    );
    return await this.#stored(SCHEMA_VERSION);
  }
}

/** The bytes of one that are not those of the other; called again with the same template, the file. */
export function unlike(file: Uint8Array, template: Uint8Array): Buffer {
  const bytes = Buffer.from(file);
  const both = Math.min(bytes.length, template.length);
  for (let at = 0; at < both; at += 1) bytes[at] = (bytes[at] ?? 0) ^ (template[at] ?? 0);
  return bytes;
}

function missing(version: number): DevsError {
  return new DevsError(`PostgreSQL has no empty file of version ${version}, of which bases are kept.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Restore the table `file_templates` from a backup.',
    context: { version },
  });
}
