import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@devs/core/state';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HeldFile } from '../src/HeldFile.ts';
import { RunFiles } from '../src/RunFiles.ts';
import { Shipper } from '../src/Shipper.ts';
import { migrate } from '../src/schema.ts';
import { type PostgresServer, startPostgres } from './support/startPostgres.ts';

let server: PostgresServer;
let pool: pg.Pool;
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'devs-held-'));
  server = await startPostgres();
  pool = new pg.Pool({ connectionString: server.url, max: 4 });
  const client = await pool.connect();
  await migrate(client, 'devs');
  client.release();
});

afterAll(async () => {
  await pool.end();
  await server.stop();
  rmSync(dir, { recursive: true });
});

function emptyFile(): Buffer {
  const db = createDatabase({ dbPath: ':memory:' });
  db.exec('CREATE TABLE written (n INTEGER PRIMARY KEY, body BLOB)');
  const file = db.serialize();
  db.close();
  file.set([2, 2], 18); // with a write-ahead log
  return file;
}

let runs = 0;

/** A new run, and workers that take it from each other. */
async function aRun() {
  runs += 1;
  const runId = `run/${runs}`;
  const files = new RunFiles(pool, 'devs');
  const run = { runId, tenant: 't', queue: 'q', schemaVersion: 1, file: emptyFile() };
  expect([await files.create(run), await files.create(run)]).toEqual([true, false]);
  const take = async (): Promise<HeldFile> => {
    const claim = await files.claim(runId, 'worker', 1);
    if (claim === null) throw new Error('not claimed');
    return HeldFile.checkout(claim, { files, shipper: new Shipper(pool, { schema: 'devs' }), dir });
  };
  return { runId, files, take };
}

const rowsOf = ({ db }: HeldFile): unknown => db.prepare('SELECT n FROM written ORDER BY n').pluck().all();
const write = ({ db }: HeldFile, n: number, bytes = 10): unknown =>
  db.prepare('INSERT INTO written VALUES (?, randomblob(?))').run(n, bytes);

describe('a run’s file', () => {
  test('is what has arrived for who takes it up, and refuses who had it before', async () => {
    const { take } = await aRun();
    const first = await take();
    write(first, 1);
    await first.arrived();
    write(first, 2); // never sent
    const second = await take();
    expect(rowsOf(second)).toEqual([1]);
    await expect(first.arrived()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await expect(first.arrived()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    write(second, 3);
    await second.arrived();
    expect(await first.compact(0).catch((error: { code: string }) => error.code)).toBe('LEASE_LOST');
    first.close();
    second.close();
    const third = await take();
    expect(rowsOf(third)).toEqual([1, 3]);
    third.close();
    expect(readdirSync(dir)).toEqual([]);
  });

  test('goes from worker to worker, byte for byte, with bases and without', async () => {
    const act = fc.oneof(
      fc.record({ do: fc.constant('write' as const), bytes: fc.nat(9000) }),
      fc.constant({ do: 'arrive' as const }),
      fc.constant({ do: 'compact' as const }),
      fc.constant({ do: 'take' as const }),
      fc.constant({ do: 'vacuum' as const }),
    );
    const property = fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 40 }), async (acts) => {
      const { runId, files, take } = await aRun();
      let held = await take();
      let [n, arrived] = [0, held.db.serialize()];
      for (const each of acts) {
        if (each.do === 'write') write(held, (n += 1), each.bytes);
        else if (each.do === 'vacuum') held.db.exec('VACUUM');
        else if (each.do === 'take') {
          held.close();
          held = await take();
          expect(held.db.serialize().equals(arrived)).toBe(true);
        } else {
          await (each.do === 'arrive' ? held.arrived() : held.compact(0));
          arrived = held.db.serialize();
          expect((await files.read(runId))?.bytes.equals(arrived)).toBe(true);
        }
      }
      held.close();
    });
    await fc.assert(property, { numRuns: 15 });
  });

  test('is not claimed by a release that cannot read it', async () => {
    const { runId, files } = await aRun();
    expect(await files.claim(runId, 'older', 0)).toBeNull();
    expect(await files.claim('nobody', 'worker', 1)).toBeNull();
    expect(await files.read('nobody')).toBeNull();
  });
});
