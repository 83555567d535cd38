import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { longer } from '../../../core/test/support/longer.ts';
import { decodeChange, encodeChange, FileImage } from '../files/change.ts';
import { WalTap } from '../held/WalTap.ts';

/** Changes that are taken and applied in all. */
const CHANGES = howMany('DEVS_CHANGES', 300);
const PER_FILE = 60;

/** What is done to a file; sizes in rows of up to so many bytes. */
const acts = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('insert' as const),
      rows: fc.integer({ min: 1, max: 20 }),
      bytes: fc.nat(6000),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('update' as const),
      modulus: fc.integer({ min: 1, max: 9 }),
      bytes: fc.nat(3000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('delete' as const), modulus: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('rollback' as const),
      rows: fc.integer({ min: 1, max: 60 }),
      bytes: fc.nat(6000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('savepoint' as const),
      rows: fc.integer({ min: 1, max: 40 }),
      bytes: fc.nat(6000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('table' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('vacuum' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('take up' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('nothing' as const) }) },
);
type Act = typeof acts extends fc.Arbitrary<infer T> ? T : never;

class Shipped {
  readonly #dir: string;
  #epoch = 0;
  #rows = 0;
  #db: Database.Database;
  #tap: WalTap;
  image: FileImage;

  constructor(dir: string, pageSize: number) {
    this.#dir = dir;
    const db = new Database(':memory:');
    db.pragma(`page_size = ${pageSize}`);
    db.exec(
      'CREATE TABLE t0 (n INTEGER PRIMARY KEY, body BLOB); CREATE INDEX by_body ON t0 (substr(body, 1, 40))',
    );
    const bytes = db.serialize();
    db.close();
    bytes.set([2, 2], 18);
    this.image = new FileImage(bytes);
    [this.#db, this.#tap] = this.#open();
  }

  close(): void {
    this.#db.close();
    this.#tap.close();
  }

  #open(): [Database.Database, WalTap] {
    this.#epoch += 1;
    const path = join(this.#dir, `run-${this.#epoch}.sqlite`);
    writeFileSync(path, this.image.bytes);
    const tap = new WalTap(path, this.image.sum);
    const db = new Database(path);
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = OFF');
    db.pragma('wal_autocheckpoint = 0');
    db.pragma('cache_size = 8'); // pages: transactions spill
    return [db, tap];
  }

  /** The bytes that the change has on its way; 0 for none. */
  ship(): number {
    const whole = this.#tap.whole();
    const change = this.#tap.take();
    expect(whole?.equals(this.#tap.file())).toBe(change === null ? undefined : true);
    if (change === null) return 0;
    const bytes = encodeChange(change, change.beside);
    const shared = this.image;
    const before = Buffer.from(shared.bytes);
    this.image = new FileImage(shared);
    this.image.apply(decodeChange(bytes, (page) => this.image.page(page)));
    expect(shared.bytes.equals(before)).toBe(true);
    return bytes.length;
  }

  /** As whoever opens it next reads it. */
  get file(): Buffer {
    this.#db.pragma('shrink_memory');
    return this.#db.serialize();
  }

  get fileInMemory(): Buffer {
    return this.#db.serialize();
  }

  get fileOfTap(): Buffer {
    return this.#tap.file();
  }

  run(act: Act): void {
    const db = this.#db;
    switch (act.do) {
      case 'insert':
        return void db.transaction(() => this.#insert(act.rows, act.bytes))();
      case 'update':
        return void db
          .prepare('UPDATE t0 SET body = randomblob(?) WHERE n % ? = 0')
          .run(act.bytes, act.modulus);
      case 'delete':
        return void db.prepare('DELETE FROM t0 WHERE n % ? = 0').run(act.modulus);
      case 'rollback':
        db.exec('BEGIN');
        this.#insert(act.rows, act.bytes);
        return void db.exec('ROLLBACK');
      case 'savepoint':
        db.exec('BEGIN; SAVEPOINT a');
        this.#insert(act.rows, act.bytes);
        db.exec('ROLLBACK TO a');
        this.#insert(1, 10);
        return void db.exec('COMMIT');
      case 'table':
        return void db.exec(
          `CREATE TABLE t_${this.#epoch}_${this.#rows} (a, b); DROP TABLE t_${this.#epoch}_${this.#rows}`,
        );
      case 'vacuum':
        return void db.exec('VACUUM');
      case 'restart':
        this.ship();
        expect(db.pragma('wal_checkpoint(TRUNCATE)')).toMatchObject([{ busy: 0 }]);
        this.#tap.restart();
        return;
      case 'take up':
        this.ship();
        this.close();
        [this.#db, this.#tap] = this.#open();
        return;
      case 'nothing':
    }
  }

  #insert(rows: number, bytes: number): void {
    const insert = this.#db.prepare('INSERT INTO t0 (body) VALUES (randomblob(?))');
    for (let row = 0; row < rows; row += 1) insert.run(bytes);
    this.#rows += rows;
  }
}

describe('what was committed to a file', () => {
  test(
    'makes of a copy the same file, byte for byte, whatever was done to it',
    () => {
      let shipped = 0;
      const property = fc.property(
        fc.constantFrom(512, 4096, 65_536),
        fc.array(fc.record({ act: acts, isShipped: fc.boolean() }), {
          minLength: PER_FILE,
          maxLength: 2 * PER_FILE,
        }),
        (pageSize, steps) => {
          const dir = mkdtempSync(join(tmpdir(), 'devs-tap-'));
          const run = new Shipped(dir, pageSize);
          for (const { act, isShipped } of steps) {
            run.run(act);
            if (!isShipped) continue;
            shipped += run.ship() > 0 ? 1 : 0;
            expect(run.image.bytes.equals(run.file), act.do).toBe(true);
            expect(run.fileOfTap.equals(run.image.bytes), act.do).toBe(true);
          }
          run.close();
          rmSync(dir, { recursive: true });
        },
      );
      fc.assert(property, { numRuns: Math.ceil(CHANGES / 30), endOnFailure: true });
      expect(shipped).toBeGreaterThanOrEqual(CHANGES);
    },
    longer(60_000, CHANGES / 600),
  );

  test('is that of the file, where SQLite holds other bytes of a free page in memory', () => {
    const dir = mkdtempSync(join(tmpdir(), 'devs-tap-'));
    const run = new Shipped(dir, 4096);
    const acts: readonly Act[] = [
      { do: 'insert', rows: 1, bytes: 0 },
      { do: 'insert', rows: 1, bytes: 0 },
      { do: 'insert', rows: 10, bytes: 4758 },
      { do: 'insert', rows: 13, bytes: 3149 },
      { do: 'update', modulus: 6, bytes: 1799 },
      { do: 'delete', modulus: 4 },
      { do: 'delete', modulus: 1 },
      { do: 'insert', rows: 19, bytes: 153 },
      { do: 'savepoint', rows: 17, bytes: 659 }, // spills, and goes back
    ];
    for (const act of acts) run.run(act);
    run.ship();
    expect(run.fileInMemory.equals(run.image.bytes)).toBe(false);
    expect(run.fileOfTap.equals(run.image.bytes)).toBe(true);
    expect(run.file.equals(run.image.bytes)).toBe(true);
    run.close();
    rmSync(dir, { recursive: true });
  });

  test('is nothing of a log that goes on with another sum, or with other salts', () => {
    const run = opened();
    run.db.exec('INSERT INTO t VALUES (1)');
    const first = run.tap.take();
    run.db.exec('INSERT INTO t VALUES (2); INSERT INTO t VALUES (3)');
    const log = readFileSync(run.logPath);
    for (const at of [run.tap.taken + 8, run.tap.taken + 24]) {
      const damaged = Buffer.from(log);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      writeFileSync(run.logPath, damaged);
      expect(run.tap.take()).toBeNull();
    }
    writeFileSync(run.logPath, log);
    expect(first?.edits.length).toBeGreaterThan(0);
    expect(run.tap.take()?.edits.length).toBeGreaterThan(0);
    run.close();
  });

  test('is of no use to another file, nor cut off', () => {
    const run = opened();
    const image = new FileImage(readFileSync(run.path));
    const taken = (): Buffer => {
      const change = run.tap.take();
      if (change === null) throw new Error('Nothing was committed.');
      return encodeChange(change, change.beside);
    };
    const text = randomBytes(300).toString('hex');
    run.db.prepare('INSERT INTO t VALUES (?)').run(text);
    image.apply(decodeChange(taken(), (page) => image.page(page)));
    run.db.prepare('INSERT INTO t VALUES (?)').run(`${text}1`);
    const bytes = taken();
    expect(bytes.length).toBeLessThan(100); // the text is beside it
    const other = (): Buffer => Buffer.alloc(image.page(1).length, 'x');
    expect(() => image.apply(decodeChange(bytes, other))).toThrow(RangeError);
    for (const cut of [0, 10, 16, 20, bytes.length - 1])
      expect(() => decodeChange(bytes.subarray(0, cut), (page) => image.page(page))).toThrow(RangeError);
    run.close();
  });

  test('is refused of a log that was cut before it was taken', () => {
    const run = opened();
    run.db.exec('INSERT INTO t VALUES (1)');
    run.tap.take();
    expect(() => run.tap.restart()).toThrow('is not empty');
    run.db.pragma('wal_checkpoint(RESTART)');
    run.db.exec('INSERT INTO t VALUES (2)');
    expect(() => run.tap.take()).toThrow('was truncated by another process');
    run.close();
  });
});

function opened() {
  const dir = mkdtempSync(join(tmpdir(), 'devs-tap-'));
  const path = join(dir, 'run.sqlite');
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('wal_autocheckpoint = 0');
  db.exec('CREATE TABLE t (n)');
  db.pragma('wal_checkpoint(TRUNCATE)');
  const tap = new WalTap(path, new FileImage(readFileSync(path)).sum);
  const close = (): void => {
    db.close();
    tap.close();
    rmSync(dir, { recursive: true });
  };
  return { db, tap, path, logPath: `${path}-wal`, close };
}
