import { DevsError } from '@devs/core';
import { runFile } from '@devs/core/internal';
import type { Tables } from '../server/Tables.ts';
import { alignedUint32 } from './change.ts';

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

  /** That of this release. @throws DevsError `STATE_IO` */
  own(): Promise<Uint8Array> {
    return this.#once(runFile.schema, () => this.#stored());
  }

  /** @throws DevsError `STATE_CORRUPT` for a version that nobody has stored; `STATE_IO` */
  of(version: number): Promise<Uint8Array> {
    return this.#once(version, async () => (await this.#read(version)) ?? templateMissing(version));
  }

  #once(version: number, find: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const known = this.#known.get(version);
    if (known !== undefined) return known;
    const found = find();
    this.#known.set(version, found);
    found.catch(() => this.#known.delete(version));
    return found;
  }

  async #read(version: number): Promise<Uint8Array | null> {
    const { schema } = this.#tables;
    const rows = await this.#tables.query<{ bytes: Buffer }>(
      `SELECT bytes FROM ${schema}.file_templates WHERE version = $1`,
      [version],
    );
    return rows[0]?.bytes ?? null;
  }

  async #stored(): Promise<Uint8Array> {
    const there = await this.#read(runFile.schema);
    if (there !== null) return there;
    const db = runFile.create();
    const bytes = db.serialize();
    db.close();
    await this.#tables.query(
      `INSERT INTO ${this.#tables.schema}.file_templates (version, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
      [runFile.schema, bytes],
    );
    return (await this.#read(runFile.schema)) ?? templateMissing(runFile.schema);
  }
}

/**
 * Makes of a file what it has that a template has not, which is zeros where they are the same; called again with that, the file.
 * Both are of whole pages.
 *
 * @param file - Its bytes are changed, or those of a copy.
 */
export function unlike(file: Uint8Array, template: Uint8Array): Uint8Array {
  const bytes = file.byteOffset % 4 === 0 ? file : Uint8Array.from(file);
  const [own, known] = [alignedUint32(bytes), alignedUint32(template)];
  const both = Math.min(own.length, known.length);
  for (let word = 0; word < both; word += 1) own[word] = (own[word] ?? 0) ^ (known[word] ?? 0);
  return bytes;
}

function templateMissing(version: number): never {
  throw new DevsError(
    `PostgreSQL has no empty file of version ${version}, which stored files are based on.`,
    {
      code: 'STATE_CORRUPT',
      remedy: 'Restore the table `file_templates` from a backup.',
      context: { version },
    },
  );
}
