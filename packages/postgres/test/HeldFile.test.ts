import { createDatabase } from '@devs/core/state';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { howMany } from '../../core/test/support/howMany.ts';
import type { HeldPostgresRun } from '../src/HeldPostgresRun.ts';
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
    const looked = await one.look(id);
    const bytes = looked.db.serialize();
    looked.close();
    return bytes;
  };
  return { id, take, image };
}

const rowsOf = ({ db }: HeldPostgresRun): unknown =>
  db.prepare('SELECT n FROM written ORDER BY n').pluck().all();
const write = ({ db }: HeldPostgresRun, n: number, bytes = 10): unknown =>
  db.prepare('INSERT INTO written VALUES (?, randomblob(?))').run(n, bytes);

describe('a run’s file', () => {
  test('is what has arrived for who takes it up, and refuses who had it before', async () => {
    const { take } = await aRun();
    const first = await take();
    write(first, 1);
    await first.outlet.arrived();
    write(first, 2); // never sent
    const second = await take();
    expect(rowsOf(second)).toEqual([1]);
    expect(first.lost.aborted).toBe(false);
    await expect(first.outlet.arrived()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await expect(first.outlet.arrived()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(first.lost.aborted).toBe(true);
    write(second, 3);
    await second.outlet.arrived();
    await expect(first.settle(WAITING)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await first.close();
    await second.close();
    const third = await take();
    expect(rowsOf(third)).toEqual([1, 3]);
    await third.close();
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
          const arrives = each.do === 'arrive' ? held.outlet.arrived() : held.settle(WAITING);
          arrived = held.db.serialize();
          await arrives;
          expect((await image()).subarray(20).equals(arrived.subarray(20))).toBe(true);
          if (each.do === 'settle') await takeAnew();
        }
      }
      await held.close();
    });
    await fc.assert(property, { numRuns: howMany('DEVS_CHECKOUTS', 3) });
  });
});
