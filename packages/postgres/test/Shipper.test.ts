import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Shipper } from '../src/Shipper.ts';
import { migrate } from '../src/schema.ts';
import { type PostgresServer, startPostgres } from './support/startPostgres.ts';
import { startProxy } from './support/startProxy.ts';

let server: PostgresServer;
let pool: pg.Pool;

const poolOf = (connectionString: string): pg.Pool => {
  const made = new pg.Pool({ connectionString, max: 4 });
  made.on('error', () => undefined);
  return made;
};

beforeAll(async () => {
  server = await startPostgres();
  pool = poolOf(server.url);
  const clients = await Promise.all([1, 2, 3].map(() => pool.connect()));
  await Promise.all(clients.map((client) => migrate(client, 'devs')));
  for (const client of clients) client.release();
});

afterAll(async () => {
  await pool.end();
  await server.stop();
});

let runs = 0;
async function aRun(epoch = 1): Promise<string> {
  runs += 1;
  const id = `run-${runs}`;
  const values = [id, epoch];
  await pool.query(
    `INSERT INTO devs.runs (run_id, tenant, graph, fingerprint, queue, schema_version, status, epoch) VALUES ($1, 't', 'g', 'f', 'q', 1, 'running', $2)`,
    values,
  );
  return id;
}

const changesOf = async (runId: string): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ bytes: Buffer }>(
    'SELECT bytes FROM devs.run_changes WHERE run_id = $1 ORDER BY seq',
    [runId],
  );
  return rows.map(({ bytes }) => bytes.toString());
};

const shipment = (runId: string, seq: number, { epoch = 1, text = `change ${seq}` } = {}) => ({
  ...{ runId, epoch, seq },
  bytes: Buffer.from(text),
});

describe('changes of runs', () => {
  test('are kept in the order of their run, those of many runs in few statements', async () => {
    const shipper = new Shipper(pool, { schema: 'devs' });
    const ids = await Promise.all(Array.from({ length: 20 }, () => aRun()));
    const before = await statements();
    await Promise.all(ids.flatMap((id) => [1, 2, 3].map((seq) => shipper.ship(shipment(id, seq)))));
    expect((await statements()) - before).toBeLessThanOrEqual(3 + 1);
    for (const id of ids) expect(await changesOf(id)).toEqual(['change 1', 'change 2', 'change 3']);
  });

  test('are refused of who was taken over, with all that come after, and nobody else’s', async () => {
    const shipper = new Shipper(pool, { schema: 'devs' });
    const [taken, other] = [await aRun(2), await aRun()];
    const sent = [shipment(taken, 1), shipment(other, 1), shipment(taken, 2), shipment(other, 2)];
    const results = await Promise.allSettled(sent.map((each) => shipper.ship(each)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled']);
    expect(results[0]).toMatchObject({ reason: { code: 'LEASE_LOST' } });
    expect([await changesOf(taken), await changesOf(other)]).toEqual([[], ['change 1', 'change 2']]);
  });

  test('are refused where the one before is missing: a server that has lost commits', async () => {
    const shipper = new Shipper(pool, { schema: 'devs' });
    const id = await aRun();
    await shipper.ship(shipment(id, 1));
    await expect(shipper.ship(shipment(id, 3))).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await changesOf(id)).toEqual(['change 1']);
  });

  test('are there once, where the answer to them was lost', async () => {
    const proxy = await startProxy(server.url);
    const through = poolOf(proxy.url);
    const shipper = new Shipper(through, { schema: 'devs' });
    const id = await aRun();
    for (let seq = 1; seq <= 10; seq += 1) {
      if (seq % 2 === 0) proxy.loseAnswer('run_changes');
      await shipper.ship(shipment(id, seq));
    }
    expect(proxy.lost).toBe(5);
    expect(await changesOf(id)).toHaveLength(10);
    await through.end();
    proxy.close();
  });

  test('wait while PostgreSQL is away, and arrive when it is back', async () => {
    const shipper = new Shipper(pool, { schema: 'devs' });
    const id = await aRun();
    await shipper.ship(shipment(id, 1));
    const restarted = server.restart();
    const later = shipper.ship(shipment(id, 2));
    await Promise.all([restarted, later]);
    expect(await changesOf(id)).toEqual(['change 1', 'change 2']);
  });

  test('fail, where it stays away', async () => {
    const away = poolOf('postgres://devs@127.0.0.1:1/postgres');
    const shipper = new Shipper(away, { schema: 'devs', awayMs: 100 });
    await expect(shipper.ship(shipment('r', 1))).rejects.toMatchObject({ code: 'STATE_IO' });
    await away.end();
  });
});

/** Transactions of this database up to now. */
async function statements(): Promise<number> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('SELECT pg_stat_force_next_flush()').catch(() => undefined);
  const { rows } = await client.query<{ xid: string }>('SELECT pg_current_xact_id()::text AS xid');
  await client.end();
  return Number(rows[0]?.xid);
}
