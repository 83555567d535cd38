import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { tried } from '../../../test/support/tried.ts';
import { ThreadStore } from '../../state/threads/ThreadStore.ts';
import { copyInMemory, originOf } from '../copyInMemory.ts';
import { createDatabase, openReadOnly } from '../createDatabase.ts';
import { dataVersion } from '../fileIdentity.ts';

const INSERT = "INSERT INTO events (at, name, payload_json) VALUES (?, 'X', json_quote(?))";
const FRAME = 24 + 4096;
const HEADER = 32;

/** Commits `before`, moves them into the file, then commits `after`; a copy of file and log as a kill leaves them. */
function killedWriter(dbPath: string, before: readonly number[], after: readonly number[]): string {
  const writer = createDatabase({ dbPath });
  const insert = writer.prepare(INSERT);
  for (const size of before) insert.run(size, 'x'.repeat(size));
  writer.pragma('wal_checkpoint(RESTART)');
  for (const size of after) insert.run(size, 'y'.repeat(size));
  const copy = join(dirname(dbPath), 'copy', 'state.sqlite');
  mkdirSync(dirname(copy), { recursive: true });
  for (const end of ['', '-wal']) copyFileSync(`${dbPath}${end}`, `${copy}${end}`);
  writer.exec('DELETE FROM events');
  writer.close();
  return copy;
}

function withBit(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  if (at < copy.length) copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
}

function sizesIn(bytes: Buffer): readonly unknown[] {
  const db = new BetterSqlite3(bytes, { readonly: true });
  const sizes = db.prepare('SELECT at FROM events ORDER BY seq').pluck().all();
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  db.close();
  return sizes;
}

describe('a copy of a state file in memory', () => {
  test('holds every commit of the file and of its log', ({ dbPath }) => {
    const sizes = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 6 });
    const property = fc.property(sizes, sizes, (before, after) => {
      expect(sizesIn(copyInMemory(killedWriter(dbPath, before, after)))).toEqual([...before, ...after]);
    });
    fc.assert(property, { numRuns: 8 });
  });

  test('ends with the last commit that is whole, as SQLite itself does', ({ dbPath, task }) => {
    const copy = killedWriter(dbPath, [10, 9000], [20, 30, 40]);
    const recovered = join(dirname(dbPath), 'recovered.sqlite');
    const asSqliteDoes = (): readonly unknown[] => {
      for (const end of ['', '-wal']) copyFileSync(`${copy}${end}`, `${recovered}${end}`);
      const db = new BetterSqlite3(recovered);
      const sizes = db.prepare('SELECT at FROM events ORDER BY seq').pluck().all();
      db.close();
      return sizes;
    };
    const log = readFileSync(`${copy}-wal`);
    const frames = (log.length - HEADER) / FRAME;
    const found = new Set<number>();
    let images = 0;
    for (let kept = frames; kept >= 0; kept -= 1) {
      for (const [at, bytes] of [
        ['end', log.subarray(0, Math.max(0, HEADER + kept * FRAME - 1))],
        ['bit', withBit(log, HEADER + kept * FRAME + 100)],
      ] as const) {
        writeFileSync(`${copy}-wal`, bytes);
        images += 1;
        const sizes = sizesIn(copyInMemory(copy));
        found.add(sizes.length);
        expect(sizes, `${at} ${kept}`).toEqual(asSqliteDoes());
      }
    }
    tried(task, { ways: images });
    expect([...found].sort()).toEqual([2, 3, 4, 5]);
  });

  test('is not given of a file that changes all the time', ({ dbPath }) => {
    const copy = killedWriter(dbPath, [10], [20]);
    const alloc = vi.spyOn(Buffer, 'alloc').mockImplementation((size) => {
      writeFileSync(`${copy}-wal`, readFileSync(`${copy}-wal`)); // another time of change
      return Buffer.from(new Uint8Array(size));
    });
    expect(() => copyInMemory(copy)).toThrow(expect.objectContaining({ code: 'STATE_IO' }));
    alloc.mockRestore();
  });

  test('opens in place of a file that SQLite cannot open, and names folders as that does', ({ dbPath }) => {
    const copy = killedWriter(dbPath, [], []);
    const work = createDatabase({ dbPath: copy });
    const thread = { projectId: 'p', briefSha256: null, graphFingerprint: 'f', policies: {} };
    new ThreadStore(work).create({ ...thread, threadId: 'r', workspace: '../folders/r' });
    work.close();
    symlinkSync('/nowhere/at/all', `${copy}-wal`); // SQLite cannot make its log there.
    expect(() => createDatabase({ dbPath: copy })).toThrow(expect.objectContaining({ code: 'STATE_IO' }));
    const viewer = openReadOnly({ dbPath: copy });
    const threads = new ThreadStore(viewer);
    expect(threads.folderOf(threads.require('r'))).toBe(join(dirname(dbPath), 'folders', 'r'));
    expect(() => threads.markDegraded('r')).toThrow(expect.objectContaining({ code: 'STATE_IO' }));
    viewer.close();
  });

  test('says so once its file has changed: it stays as it was', ({ dbPath }) => {
    const copy = killedWriter(dbPath, [], []);
    createDatabase({ dbPath: copy }).close();
    symlinkSync('/nowhere/at/all', `${copy}-wal`);
    const viewer = openReadOnly({ dbPath: copy });
    expect(dataVersion(viewer)).toBe(dataVersion(viewer));
    writeFileSync(copy, readFileSync(copy)); // another time of change
    expect(() => dataVersion(viewer)).toThrow(expect.objectContaining({ code: 'STATE_REPLACED' }));
    viewer.close();
  });

  test('is of no file where a database was made in memory', () => {
    const db = createDatabase({ dbPath: ':memory:' });
    expect(originOf(db)).toBeNull();
    db.close();
  });
});
