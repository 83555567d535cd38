import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { BlobStore, hashBytes } from '../BlobStore.ts';

const text = (content: string): Uint8Array => new TextEncoder().encode(content);

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('BlobStore', () => {
  test('gives back exactly the bytes that were put', ({ db }) => {
    const blobs = new BlobStore(db);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
        const stored = blobs.get(blobs.put(bytes));
        expect(stored).toEqual(bytes);
        expect(blobs.getByHash(hashBytes(bytes))).toEqual(bytes);
      }),
    );
  });

  test('stores equal bytes once', ({ db }) => {
    const blobs = new BlobStore(db);
    const id = blobs.put(text('same'));
    expect(blobs.put(text('same'))).toBe(id);
    expect(blobs.put(text('other'))).not.toBe(id);
    expect(db.prepare('SELECT count(*) FROM state_blobs').pluck().get()).toBe(2);
  });

  test('compresses where that saves and leaves the rest raw', ({ db }) => {
    const blobs = new BlobStore(db);
    const repetitive = blobs.put(text('a line of text\n'.repeat(1000)));
    const noise = blobs.put(crypto.getRandomValues(new Uint8Array(4000)));
    const row = db.prepare<[number], { encoding: string; size: number; stored: number }>(
      'SELECT encoding, size, length(bytes) AS stored FROM state_blobs WHERE blob_id = ?',
    );
    expect(row.get(repetitive)).toMatchObject({ encoding: 'deflate', size: 15_000 });
    expect(row.get(repetitive)?.stored).toBeLessThan(1000);
    expect(row.get(noise)).toEqual({ encoding: 'raw', size: 4000, stored: 4000 });
  });

  test('belongs to the transaction of its caller', ({ db }) => {
    const blobs = new BlobStore(db);
    const failing = db.transaction(() => {
      blobs.put(text('rolled back'));
      throw new Error('no');
    });
    expect(() => failing.immediate()).toThrow('no');
    expect(blobs.getByHash(hashBytes(text('rolled back')))).toBeNull();
  });

  test.each([
    ['raw', text('short')],
    ['deflate', text('a line of text\n'.repeat(100))],
  ] as const)('reports one flipped bit of a %s blob and names it', async (encoding, bytes) => {
    // A database of its own: fixtures are not passed to the callbacks of test.each.
    const { createDatabase } = await import('../../db/createDatabase.ts');
    const db = createDatabase({ dbPath: ':memory:' });
    const blobs = new BlobStore(db);
    const id = blobs.put(bytes);
    const stored = db
      .prepare<[], { encoding: string; bytes: Buffer }>('SELECT encoding, bytes FROM state_blobs')
      .get();
    expect(stored?.encoding).toBe(encoding);
    for (let position = 0; position < (stored?.bytes.length ?? 0); position += 1) {
      const damaged = Buffer.from(stored?.bytes ?? []);
      damaged.writeUInt8(damaged.readUInt8(position) ^ 1, position);
      db.prepare('UPDATE state_blobs SET bytes = ?').run(damaged);
      const value = thrownBy(() => blobs.get(id)) ?? blobs.get(id);
      // A flip in padding bits of the compressed form changes nothing that is read.
      if (value instanceof Uint8Array) expect(value).toEqual(bytes);
      else expect(value).toMatchObject({ code: 'STATE_CORRUPT', context: { blobId: id } });
    }
    db.close();
  });

  test('reports a blob that is not there', ({ db }) => {
    const error = thrownBy(() => new BlobStore(db).get(42));
    expect(isDevsError(error, 'STATE_CORRUPT')).toBe(true);
    expect(String(error)).toContain('42');
  });
});
