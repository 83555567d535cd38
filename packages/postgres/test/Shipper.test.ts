import { randomUUID } from 'node:crypto';
import type { Gate } from '@devs/core';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Sender, type Shipment, Shipper } from '../src/rows/Shipper.ts';
import { migrateSchema } from '../src/schema.ts';
import { poolOf } from '../src/server/pool.ts';
import { type PostgresServer, startPostgres } from './support/startPostgres.ts';
import { startProxy } from './support/startProxy.ts';

let server: PostgresServer;
let pool: pg.Pool;

const shipperOn = (on: pg.Pool, awayMs = 60_000): Shipper =>
  new Shipper(on, { schema: 'devs', patience: { awayMs, onAway: () => undefined }, isPooled: false });

beforeAll(async () => {
  server = await startPostgres({ isOwn: true });
  pool = poolOf({ connectionString: server.url, max: 4 });
  const clients = await Promise.all([1, 2, 3].map(() => pool.connect()));
  await Promise.all(clients.map((client) => migrateSchema(client, 'devs')));
  for (const client of clients) client.release();
});

afterAll(async () => {
  await pool.end();
  await server.stop();
});

interface Run {
  readonly id: string;
  readonly lease: string;
}

let runs = 0;
async function aRun(): Promise<Run> {
  runs += 1;
  const run = { id: `run-${runs}`, lease: randomUUID() };
  await pool.query(
    `INSERT INTO devs.runs (run_id, birth, tenant, graph, fingerprint, queue, schema_version, status, lease)
     VALUES ($1, $2, 't', 'g', 'f', 'q', 1, 'running', $2)`,
    [run.id, run.lease],
  );
  return run;
}

const changesOf = async ({ id }: Run): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ bytes: Buffer }>(
    'SELECT bytes FROM devs.run_changes WHERE run_id = $1 ORDER BY seq',
    [id],
  );
  return rows.map(({ bytes }) => bytes.toString());
};

const shipment = (
  { id, lease }: Run,
  seq: number,
  { gates = null, bytes = Buffer.from(`change ${seq}`) }: Partial<Pick<Shipment, 'gates' | 'bytes'>> = {},
): Sender => ({ ...{ runId: id, lease }, pack: () => ({ seq, bytes, gates }) });

const aGate = (sessionId: string, threadId: string): Gate => ({
  ...{ sessionId, threadId, kind: 'review' as const, taskId: 't', artifactHash: 'h' },
  ...{ message: 'a\u0000b\ud800', artifact: null, openedAt: '2026-01-02T03:04:05.678Z' },
});

const anEvent = (threadId: string, seq: number): NonNullable<Shipment['events']>[number] => ({
  ...{ seq, threadId, at: 0, taskId: null, cursor: `${seq}`, name: 'GATE_REMINDED' },
  payload: { sessionId: 'a\u0000\ud800', kind: 'review', within: 1 },
});

const eventsOf = async ({ id }: Run): Promise<readonly number[]> => {
  const sql = 'SELECT event FROM devs.gate_events WHERE run_id = $1 ORDER BY position';
  const { rows } = await pool.query<{ event: string }>(sql, [id]);
  return rows.map(({ event }) => (JSON.parse(event) as { seq: number }).seq);
};

const gatesOf = async ({ id }: Run): Promise<unknown> => {
  const sql = 'SELECT session_id, status FROM devs.gates WHERE run_id = $1 ORDER BY session_id';
  const { rows } = await pool.query<{ session_id: string; status: string }>(sql, [id]);
  return Object.fromEntries(rows.map(({ session_id, status }) => [session_id.slice(-1), status]));
};

describe('changes of runs', () => {
  test('are kept in the order of their run, those of many runs in few statements', async () => {
    const counted = poolOf({ connectionString: server.url, max: 4 });
    const statements = vi.spyOn(counted, 'query');
    const shipper = shipperOn(counted);
    const all = await Promise.all(Array.from({ length: 20 }, () => aRun()));
    await Promise.all(all.flatMap((run) => [1, 2, 3].map((seq) => shipper.ship(shipment(run, seq)))));
    expect(statements).toHaveBeenCalledTimes(3);
    await counted.end();
    for (const run of all) expect(await changesOf(run)).toEqual(['change 1', 'change 2', 'change 3']);
  });

  test('of runs that go on when theirs has arrived wait for those of the others', async () => {
    const counted = poolOf({ connectionString: server.url, max: 4 });
    const statements = vi.spyOn(counted, 'query');
    const shipper = shipperOn(counted);
    const all = await Promise.all(Array.from({ length: 20 }, () => aRun()));
    const drive = async (run: Run, turns: number): Promise<void> => {
      for (let seq = 1; seq <= 3; seq += 1) {
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        await shipper.ship(shipment(run, seq));
      }
    };
    await Promise.all(all.map(drive));
    expect(statements).toHaveBeenCalledTimes(3);
    await counted.end();
  });

  test.for([
    [false, 1],
    [true, 0],
  ] as const)(
    'go in a statement that is planned once; behind a pooler (%s) each time anew',
    async ([isPooled, known]) => {
      const one = poolOf({ connectionString: server.url, max: 1 });
      const patience = { awayMs: 1000, onAway: () => undefined };
      const shipper = new Shipper(one, { schema: 'devs', patience, isPooled });
      const run = await aRun();
      for (const seq of [1, 2, 3]) await shipper.ship(shipment(run, seq));
      const { rowCount } = await one.query('SELECT 1 FROM pg_prepared_statements');
      expect(rowCount).toBe(known);
      await one.end();
    },
  );

  test('that do not fit are the first of the next statement', async () => {
    const shipper = shipperOn(pool);
    const [small, large, next] = [await aRun(), await aRun(), await aRun()];
    const bytes = Buffer.alloc(9 * 1024 * 1024, 'devs');
    const sent = [shipment(small, 1), shipment(large, 1, { bytes }), shipment(next, 1), shipment(small, 2)];
    await Promise.all(sent.map((each) => shipper.ship(each)));
    const sizes = await Promise.all([small, large, next].map(changesOf));
    expect(sizes.map((changes) => changes.map(({ length }) => length))).toEqual([
      [8, 8],
      [bytes.length],
      [8],
    ]);
  });

  test('fail alone where they cannot be packed', async () => {
    const shipper = shipperOn(pool);
    const [bad, good] = [await aRun(), await aRun()];
    const pack = (): never => {
      throw new RangeError('too large');
    };
    const results = await Promise.allSettled([
      shipper.ship({ ...shipment(bad, 1), pack }),
      shipper.ship(shipment(good, 1)),
      shipper.ship({ ...shipment(bad, 1), pack: () => null }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(results[0]).toMatchObject({ reason: { message: 'too large' } });
  });

  test('are refused of who was taken over, with all that come after, and nobody else’s', async () => {
    const shipper = shipperOn(pool);
    const [theirs, other] = [await aRun(), await aRun()];
    const taken = { ...theirs, lease: randomUUID() };
    const sent = [shipment(taken, 1), shipment(other, 1), shipment(taken, 2), shipment(other, 2)];
    const results = await Promise.allSettled(sent.map((each) => shipper.ship(each)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled']);
    expect(results[0]).toMatchObject({ reason: { code: 'LEASE_LOST' } });
    expect([await changesOf(taken), await changesOf(other)]).toEqual([[], ['change 1', 'change 2']]);
  });

  test('are refused where the one before is missing: a server that has lost commits', async () => {
    const shipper = shipperOn(pool);
    const run = await aRun();
    await shipper.ship(shipment(run, 1));
    await expect(shipper.ship(shipment(run, 3))).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await changesOf(run)).toEqual(['change 1']);
  });

  test('bring the events about their gates, once, in positions that are seen in their order', async () => {
    const run = await aRun();
    const withEvents = (seq: number): Sender => ({
      ...shipment(run, seq),
      pack: () => ({
        seq,
        bytes: Buffer.from(`${seq}`),
        gates: null,
        events: [anEvent(run.id, 2 * seq), anEvent(run.id, 2 * seq + 1)],
      }),
    });
    await shipperOn(pool).ship(withEvents(1));
    await shipperOn(pool).ship(withEvents(1)); // its answer was lost
    const other = await aRun();
    const taken = { ...other, lease: randomUUID() };
    const gates = [aGate(`${other.id}-a`, other.id)];
    const refused = {
      ...shipment(taken, 1),
      pack: () => ({ seq: 1, bytes: Buffer.from('x'), gates, events: [anEvent('other', 9)] }),
    };
    await expect(shipperOn(pool).ship(refused)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await eventsOf(run)).toEqual([2, 3]);

    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('UPDATE devs.gate_event_count SET position = position + 1');
    const later = shipperOn(pool).ship(withEvents(2));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await eventsOf(run)).toEqual([2, 3]); // whoever counts later waits for whoever counts before
    await client.query('ROLLBACK');
    client.release();
    await later;
    expect(await eventsOf(run)).toEqual([2, 3, 4, 5]);
    await pool.query('DELETE FROM devs.runs WHERE run_id = $1', [run.id]);
    expect(await eventsOf(run)).toEqual([]);
  });

  test('bring their open questions; what was decided stays so as long as its file asks', async () => {
    const shipper = shipperOn(pool);
    const run = await aRun();
    const [a, b] = ['a', 'b'].map((name) => aGate(`${run.id}-${name}`, run.id)) as [Gate, Gate];
    await shipper.ship(shipment(run, 1, { gates: [a, b] }));
    expect(await gatesOf(run)).toEqual({ a: 'open', b: 'open' });
    await pool.query(`UPDATE devs.gates SET status = 'decided' WHERE session_id = $1`, [a.sessionId]);
    await shipper.ship(shipment(run, 2, { gates: [a] }));
    await shipper.ship(shipment(run, 3));
    expect(await gatesOf(run)).toEqual({ a: 'decided', b: 'closed' });
    await shipper.ship(shipment(run, 4, { gates: [] }));
    expect(await gatesOf(run)).toEqual({ a: 'closed', b: 'closed' });
  });

  test('that are large go in parts, and are there as a whole or not at all', async () => {
    const proxy = await startProxy(server.url);
    const through = poolOf({ connectionString: proxy.url, max: 4 });
    const shipper = shipperOn(through);
    const run = await aRun();
    const bytes = Buffer.alloc(9 * 1024 * 1024, 'devs');
    const ship = (seq: number, lease = run.lease) =>
      shipper.ship(shipment({ ...run, lease }, seq, { bytes }));
    await ship(1);
    proxy.loseAnswer('devs_append_large');
    await ship(2);
    await expect(ship(3, randomUUID())).rejects.toMatchObject({ code: 'LEASE_LOST' });
    const { rows } = await pool.query<{ same: boolean }>(
      'SELECT bytes = $2::bytea AS same FROM devs.run_changes WHERE run_id = $1',
      [run.id, bytes],
    );
    expect([rows, proxy.lost]).toEqual([[{ same: true }, { same: true }], 1]);
    await through.end();
    proxy.close();
  });

  test('are there once, where the answer to them was lost', async () => {
    const proxy = await startProxy(server.url);
    const through = poolOf({ connectionString: proxy.url, max: 4 });
    const shipper = shipperOn(through);
    const run = await aRun();
    for (let seq = 1; seq <= 6; seq += 1) {
      if (seq % 2 === 0) proxy.loseAnswer('devs_append');
      await shipper.ship(shipment(run, seq));
    }
    expect(proxy.lost).toBe(3);
    expect(await changesOf(run)).toHaveLength(6);
    await through.end();
    proxy.close();
  });

  test('wait while PostgreSQL is away, which is said, and arrive when it is back', async () => {
    const told: boolean[] = [];
    const patience = { awayMs: 60_000, onAway: (why: unknown) => void told.push(why !== null) };
    const proxy = await startProxy(server.url);
    const through = poolOf({ connectionString: proxy.url, max: 4 });
    const shipper = new Shipper(through, { schema: 'devs', patience, isPooled: false });
    const run = await aRun();
    await shipper.ship(shipment(run, 1));
    proxy.loseAnswer('devs_append');
    const restarted = server.restart();
    await Promise.all([restarted, shipper.ship(shipment(run, 2))]);
    expect(await changesOf(run)).toEqual(['change 1', 'change 2']);
    expect(told).toEqual([true, false]);
    await through.end();
    proxy.close();
  });

  test('fail, where it stays away', async () => {
    const away = poolOf({ connectionString: 'postgres://devs@127.0.0.1:1/postgres', max: 4 });
    const run = { id: 'r', lease: randomUUID() };
    await expect(shipperOn(away, 100).ship(shipment(run, 1))).rejects.toMatchObject({ code: 'STATE_IO' });
    await away.end();
  });
});
