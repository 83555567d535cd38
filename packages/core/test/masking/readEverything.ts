import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { BlobStore } from '../../src/state/blobs/BlobStore.ts';

/** The bytes of the state file and its log, read by another process: this one must not open files it has locked. */
export function bytesOf(dbPath: string): Buffer {
  const files = [dbPath, `${dbPath}-wal`].filter((file) => existsSync(file));
  return execFileSync('cat', files, { maxBuffer: 1 << 28 });
}

/** Every value of every table as text, and every stored value put together again and decompressed. */
export function textsOf(db: Database): string {
  const tables = db
    .prepare<[], { name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all();
  const rows = tables.flatMap(({ name }) =>
    db.prepare<[], Record<string, unknown>>(`SELECT * FROM "${name}"`).all(),
  );
  const blobs = new BlobStore(db);
  const ids = db.prepare<[], { id: number }>('SELECT blob_id AS id FROM state_blobs').all();
  return [
    ...rows.flatMap((row) => Object.values(row).map(asText)),
    ...ids.map(({ id }) => asText(blobs.get(id))),
  ].join('\n');
}

function asText(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8');
}
