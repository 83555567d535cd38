import type { Database } from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase, openWorkingCopy } from '../../db/createDatabase.ts';
import { transaction } from '../../db/prepare.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { BlobStore, hashBytes } from '../blobs/BlobStore.ts';
import { ValueCache } from '../blobs/ValueCache.ts';

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

  test('stores bytes again that another connection has deleted, under an id that nobody has', ({
    dbPath,
  }) => {
    const [file, other] = [createDatabase({ dbPath }), createDatabase({ dbPath })];
    const [here, there] = [new BlobStore(file), new BlobStore(other)];
    here.put(text('deleted'));
    const newest = there.put(text('newest'));
    other.prepare('DELETE FROM state_blobs WHERE blob_id <> ?').run(newest);
    const again = here.put(text('deleted'));
    expect(again).toBeGreaterThan(newest);
    expect(there.get(again)).toEqual(text('deleted'));
    for (const each of [file, other]) each.close();
  });

  test('stores bytes again whose transaction was undone', ({ db }) => {
    const blobs = new BlobStore(db);
    const undone = (): void => {
      blobs.put(text('value'));
      throw new Error('undone');
    };
    expect(() => transaction(db, 'immediate', undone)).toThrow('undone');
    expect(blobs.get(blobs.put(text('value')))).toEqual(text('value'));
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

  test('leaves what is not large to who compresses a working copy as a whole', ({ dbPath }) => {
    createDatabase({ dbPath }).close();
    const copy = openWorkingCopy(dbPath);
    const blobs = new BlobStore(copy);
    const encodingOf = (length: number): unknown => {
      const id = blobs.put(text('a'.repeat(length)));
      expect(new BlobStore(copy, new ValueCache()).get(id)).toHaveLength(length);
      return copy.prepare('SELECT encoding FROM state_blobs WHERE blob_id = ?').pluck().get(id);
    };
    expect([10_000, 1_000_000].map(encodingOf)).toEqual(['raw', 'deflate']);
    copy.close();
  });

  test('comes back when only its beginning compresses', ({ db }) => {
    const blobs = new BlobStore(db);
    const bytes = joined(text('a'.repeat(4096)), noise(1, 200));
    const mixed = joined(text('ab'.repeat(600)), noise(2, 60_000));
    expect(blobs.get(blobs.put(bytes))).toEqual(bytes);
    expect(blobs.get(blobs.put(mixed))).toEqual(mixed);
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
    ['deflate', text('a line of text\n'.repeat(120))],
  ] as const)('reports one flipped bit of a %s blob and names it', (encoding, bytes) => {
    // A database of its own: fixtures are not passed to the callbacks of test.each.
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

interface Row {
  readonly blob_id: number;
  readonly base_id: number | null;
  readonly size: number;
  readonly stored: number;
}

const rowsOf = (db: Database): readonly Row[] =>
  db
    .prepare<[], Row>(
      'SELECT blob_id, base_id, size, length(bytes) AS stored FROM state_blobs ORDER BY blob_id',
    )
    .all();

/** Bytes that neither repeat nor compress, the same for the same seed. */
function noise(seed: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed + 1;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

const joined = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

describe('splices', () => {
  test('every value of any history comes back, from a warm and from a cold start', ({ db }) => {
    const piece = fc.record({ at: fc.nat(), remove: fc.nat(900), insert: fc.nat(900), seed: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 25 }), fc.boolean(), (edits, cold) => {
        let blobs = new BlobStore(db, new ValueCache());
        let value = noise(edits.length, 3000);
        let base = blobs.put(value);
        const stored = new Map([[base, value]]);
        for (const { at, remove, insert, seed } of edits) {
          if (cold) blobs = new BlobStore(db, new ValueCache());
          const place = at % (value.length + 1);
          value = joined(value.subarray(0, place), noise(seed, insert), value.subarray(place + remove));
          base = blobs.put(value, { base });
          stored.set(base, value);
        }
        for (const [id, bytes] of stored) expect(Buffer.compare(blobs.get(id), bytes)).toBe(0);
      }),
      { numRuns: 60 },
    );
    expect(rowsOf(db).some(({ base_id }) => base_id !== null)).toBe(true);
  });

  test('a small change costs about its size, and a whole value comes when the changes have cost as much', ({
    db,
  }) => {
    const blobs = new BlobStore(db);
    const head = noise(0, 50_000);
    let base: number | null = null;
    for (let step = 0; step < 200; step += 1) base = blobs.put(joined(head, noise(step, 1000)), { base });
    const rows = rowsOf(db);
    const full = rows.filter(({ base_id }) => base_id === null);
    const splices = rows.filter(({ base_id }) => base_id !== null);
    expect(splices.every(({ stored }) => stored <= 1000)).toBe(true);
    // 51,000 bytes hold 46 splices of 1,000 bytes and their rows.
    expect(full).toHaveLength(5);
    const bytes = rows.reduce((sum, { stored }) => sum + stored, 0);
    expect(bytes).toBeLessThan(2.5 * 200 * 1000);
  });

  test('a value that only grows is stored whole each time it has doubled', ({ db }) => {
    const blobs = new BlobStore(db);
    let value = new Uint8Array();
    let base: number | null = null;
    for (let step = 0; step < 500; step += 1) {
      value = joined(value, noise(step, 300)) as Uint8Array<ArrayBuffer>;
      base = blobs.put(value, { base });
    }
    const full = rowsOf(db).filter(({ base_id }) => base_id === null);
    expect(full.length).toBeLessThanOrEqual(12);
    const bytes = rowsOf(db).reduce((sum, { stored }) => sum + stored, 0);
    expect(bytes).toBeLessThan(3.5 * value.length);
    expect(blobs.get(base ?? 0)).toEqual(value);
  });

  test('a value that shares little with its base, or is small, is stored whole', ({ db }) => {
    const blobs = new BlobStore(db);
    const base = blobs.put(noise(1, 2000));
    blobs.put(noise(2, 2000), { base });
    blobs.put(noise(1, 2000).subarray(0, 400), { base });
    blobs.put(noise(3, 2000), { base: 4711 });
    expect(rowsOf(db).map(({ base_id }) => base_id)).toEqual([null, null, null, null]);
  });

  test('a base that a rolled back transaction made is not taken for another of the same id', ({ db }) => {
    const blobs = new BlobStore(db);
    let lost = 0;
    const rollback = db.transaction(() => {
      lost = blobs.put(noise(1, 5000));
      throw new Error('no');
    });
    expect(() => rollback.immediate()).toThrow('no');
    const other = new BlobStore(db, new ValueCache());
    expect(other.put(noise(2, 5000))).toBe(lost);
    const next = joined(noise(2, 5000), text('more'));
    const id = blobs.put(next, { base: lost });
    expect(rowsOf(db).at(-1)?.base_id).toBe(lost);
    expect(blobs.get(id)).toEqual(next);
  });

  test('a base cannot be deleted before its splices', ({ db }) => {
    const blobs = new BlobStore(db);
    const base = blobs.put(noise(1, 2000));
    blobs.put(joined(noise(1, 2000), text('more')), { base });
    expect(() => db.prepare('DELETE FROM state_blobs WHERE blob_id = ?').run(base)).toThrow(/FOREIGN KEY/);
  });

  test('a value in memory is not used for a row that has changed', ({ db }) => {
    const blobs = new BlobStore(db);
    const base = blobs.put(noise(1, 2000));
    const id = blobs.put(joined(noise(1, 2000), text('more')), { base });
    db.exec(`UPDATE state_blobs SET bytes = CAST('mope' AS BLOB) WHERE blob_id = ${id}`);
    expect(thrownBy(() => blobs.get(id))).toMatchObject({ code: 'STATE_CORRUPT', context: { blobId: id } });
    db.exec(`UPDATE state_blobs SET bytes = CAST('more' AS BLOB) WHERE blob_id = ${id}`);
    expect(blobs.get(id)).toEqual(joined(noise(1, 2000), text('more')));
  });

  test.for([
    ['a damaged base', 'UPDATE state_blobs SET bytes = zeroblob(length(bytes)) WHERE base_id IS NULL'],
    ['a missing base', 'DELETE FROM state_blobs WHERE base_id IS NULL'],
    ['a base that is newer', 'UPDATE state_blobs SET base_id = 9 WHERE base_id IS NOT NULL'],
    ['a circle', 'UPDATE state_blobs SET base_id = blob_id WHERE base_id IS NOT NULL'],
    ['a wrong prefix', 'UPDATE state_blobs SET prefix = prefix + 1 WHERE base_id IS NOT NULL'],
    ['a shifted splice', 'UPDATE state_blobs SET prefix = prefix - 1, suffix = 1 WHERE base_id IS NOT NULL'],
  ] as const)('%s is reported, in reading and as a base from a cold start', ([, damage], { db }) => {
    const blobs = new BlobStore(db);
    const base = blobs.put(noise(1, 2000));
    const id = blobs.put(joined(noise(1, 2000), text('more')), { base });
    db.pragma('foreign_keys = OFF');
    db.exec(damage);
    const work = [
      () => new BlobStore(db, new ValueCache()).get(id),
      () => new BlobStore(db, new ValueCache()).put(noise(7, 2000), { base: id }),
    ];
    for (const attempt of work) expect(thrownBy(attempt)).toMatchObject({ code: 'STATE_CORRUPT' });
  });
});
