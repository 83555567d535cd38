import { createDatabase } from '@devs/core/state';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { howMany } from '../../core/test/support/howMany.ts';
import { RunFiles } from '../src/files/RunFiles.ts';
import type { HeldPostgresRun } from '../src/held/HeldPostgresRun.ts';
import { BossJobs } from '../src/jobs/BossJobs.ts';
import type { PostgresRuns } from '../src/PostgresRuns.ts';
import { type Cluster, startCluster, WAITING } from './support/startCluster.ts';

let cluster: Cluster;
let one: PostgresRuns;
let two: PostgresRuns;

beforeAll(async () => {
  cluster = await startCluster();
  [one, two] = [cluster.runs(), cluster.runs()];
});
afterAll(() => cluster.stop());

function emptyFile(): Buffer {
  const db = createDatabase({ dbPath: ':memory:' });
  db.exec('CREATE TABLE written (n INTEGER PRIMARY KEY, body BLOB)');
  const file = db.serialize();
  db.close();
  return file;
}

let runs = 0;

/** A new run, and processes that take it from each other. */
async function aRun() {
  runs += 1;
  const id = `run/${runs}`;
  const run = { ...cluster.newRun(id), file: emptyFile() };
  expect([await one.create(run), await two.create(run)]).toEqual([true, false]);
  let turn = 0;
  const take = async (): Promise<HeldPostgresRun> => {
    await cluster.sql('UPDATE devs.runs SET owner = NULL WHERE run_id = $1', [id]); // as who reaps
    turn += 1;
    return (turn % 2 === 0 ? one : two).hold(id);
  };
  const image = async () => {
    const looked = await one.open(id);
    const bytes = looked.db.serialize();
    looked.close();
    return bytes;
  };
  return { id, take, image };
}

type Row = Readonly<Record<string, unknown>>;

const rowsOf = ({ db }: HeldPostgresRun): unknown =>
  db.prepare('SELECT n FROM written ORDER BY n').pluck().all();
const write = ({ db }: HeldPostgresRun, n: number, bytes = 10): unknown =>
  db.prepare('INSERT INTO written VALUES (?, randomblob(?))').run(n, bytes);

describe('a run that is let go of while a call, which its drive has left, records its result', () => {
  const MOMENTS = {
    'its base is made': [RunFiles.prototype, 'packed'],
    'PostgreSQL is asked': [BossJobs.prototype, 'openQueue'],
  } as const;

  /** Calls `work` before the next call of a method. */
  function before(moment: keyof typeof MOMENTS, work: () => Promise<void> | null): void {
    const [target, method] = MOMENTS[moment];
    const original: unknown = Reflect.get(target, method);
    const spy = vi.spyOn(target as RunFiles, method as 'packed');
    spy.mockImplementation(async function (this: unknown, ...given) {
      spy.mockRestore();
      await work();
      return (await Reflect.apply(original as () => unknown, this, given)) as Uint8Array;
    });
  }

  test.for([
    ['its base is made', false],
    ['its base is made', true],
    ['PostgreSQL is asked', true],
  ] as const)('has it for whoever takes it up: before %s, sent at once: %s', async ([moment, isSent]) => {
    const { id, take } = await aRun();
    const held = await take();
    write(held, 1, 1000);
    await held.outlet.pending();
    before(moment, () => {
      write(held, 2);
      return isSent ? held.outlet.pending() : null;
    });
    expect(await held.settle({ ...WAITING, status: 'completed' })).toBe('settled');
    await held.close();
    const next = await one.hold(id);
    write(next, 3);
    await next.outlet.pending();
    expect(rowsOf(next)).toEqual([1, 2, 3]);
    await next.close();
  });
});

describe('a run’s file', () => {
  test('is what has arrived for who takes it up, and refuses who had it before', async () => {
    const { take } = await aRun();
    const first = await take();
    write(first, 1);
    await first.outlet.pending();
    write(first, 2); // never sent
    const second = await take();
    expect(rowsOf(second)).toEqual([1]);
    expect(first.lost.aborted).toBe(false);
    await expect(first.outlet.pending()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await expect(first.outlet.pending()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(first.lost.aborted).toBe(true);
    write(second, 3);
    await second.outlet.pending();
    await expect(first.settle(WAITING)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await first.close();
    await second.close();
    const third = await take();
    expect(rowsOf(third)).toEqual([1, 3]);
    await third.close();
  });

  test('goes on ahead of what has arrived, not far, and not for long', async () => {
    const { take, image } = await aRun();
    const first = await take();
    const { lost, outlet } = first;
    const goesOn = (n: number): boolean => {
      write(first, n);
      return outlet.keepsUp(() => {}) === null;
    };
    const isThere = async (): Promise<boolean> =>
      (await image()).subarray(20).equals(first.db.serialize().subarray(20));
    expect(Array.from({ length: 64 }, (_, n) => goesOn(-n)).every(Boolean)).toBe(true); // nothing has arrived yet
    await outlet.keepsUp(() => write(first, -64)); // what was written late is committed first
    expect(await isThere()).toBe(true);
    first.db.exec('DELETE FROM written');
    expect([1, 2, 3, 4, 5, 6, 7, 8].every(goesOn)).toBe(true);
    await outlet.keepsUp(() => write(first, 9));
    expect(await isThere()).toBe(true); // all nine, though nobody asked for eight
    expect(goesOn(10)).toBe(true);
    await expect.poll(isThere, { timeout: 5000 }).toBe(true);
    const second = await take();
    expect(goesOn(11)).toBe(true); // who was taken over hears of it by what he sends soon
    await expect.poll(() => lost.aborted, { timeout: 5000 }).toBe(true);
    expect(rowsOf(second)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    await Promise.all([first.close(), second.close()]);
  });

  test('is told to who waits for nothing with what somebody else waits for', async () => {
    const { take } = await aRun();
    const held = await take();
    write(held, 1);
    let isTold = false;
    const told = held.outlet.leaving()?.then(() => {
      isTold = true;
    });
    expect(isTold).toBe(false);
    write(held, 2);
    await held.outlet.pending();
    await told;
    expect(held.outlet.leaving()).toBeNull();
    await held.close();
  });

  test('is kept as what it has besides an empty one', async () => {
    const { take, image } = await aRun();
    const held = await take();
    write(held, 1, 100_000);
    expect(await held.settle(WAITING)).toBe('settled');
    await held.close();
    const kept = await cluster.sql(
      `SELECT sum(length(bytes))::int AS bytes FROM devs.run_bases WHERE run_id = $1`,
      [held.id],
    );
    expect(kept[0]?.['bytes']).toBeLessThan(104_000); // an empty file takes 9,000 alone
    expect((await image()).length).toBeGreaterThan(300_000);
    const templates = await cluster.sql('DELETE FROM devs.file_templates RETURNING version, bytes');
    const store = ({ version, bytes }: Row, sql: string) => cluster.sql(sql, [version, bytes]);
    const other = cluster.runs();
    await expect(other.open(held.id)).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    for (const row of templates)
      await store(row, `INSERT INTO devs.file_templates VALUES ($1, set_byte($2, 5000, 77))`);
    await expect(other.open(held.id)).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    for (const row of templates)
      await store(row, 'UPDATE devs.file_templates SET bytes = $2 WHERE version = $1');
    (await cluster.runs().open(held.id)).close();
  });

  test('goes from process to process, byte for byte, with bases and without', async () => {
    const act = fc.oneof(
      fc.record({ do: fc.constant('write' as const), bytes: fc.nat(20_000) }),
      fc.constant({ do: 'arrive' as const }),
      fc.constant({ do: 'settle' as const }),
      fc.constant({ do: 'take' as const }),
      fc.constant({ do: 'vacuum' as const }),
    );
    const property = fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 25 }), async (acts) => {
      const { take, image } = await aRun();
      let held = await take();
      let n = 0;
      let arrived = held.db.serialize();
      const takeAnew = async (): Promise<void> => {
        await held.close();
        held = await take();
        expect(held.db.serialize().equals(arrived)).toBe(true);
      };
      for (const each of acts) {
        n += 1;
        if (each.do === 'write') write(held, n, each.bytes);
        else if (each.do === 'vacuum') held.db.exec('VACUUM');
        else if (each.do === 'take') await takeAnew();
        else {
          const arrives = each.do === 'arrive' ? held.outlet.pending() : held.settle(WAITING);
          arrived = held.db.serialize();
          await arrives;
          expect((await image()).subarray(20).equals(arrived.subarray(20))).toBe(true);
          if (each.do === 'settle') await takeAnew();
        }
      }
      await held.close();
    });
    await fc.assert(property, { numRuns: howMany('DEVS_CHECKOUTS', 3) });
  }, 600_000);
});
