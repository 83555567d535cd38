import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { migrateSchema } from '../src/schema.ts';
import { poolOf } from '../src/server/pool.ts';
import { SessionOwner } from '../src/server/SessionOwner.ts';
import { type PostgresServer, startPostgres } from './support/startPostgres.ts';

let server: PostgresServer;
let pool: pg.Pool;
const owners: SessionOwner[] = [];

beforeAll(async () => {
  server = await startPostgres({ isOwn: true });
  pool = poolOf({ connectionString: server.url, max: 2 });
  const client = await pool.connect();
  await migrateSchema(client, 'devs');
  client.release();
});

afterAll(async () => {
  await Promise.all(owners.map((owner) => owner.close()));
  await pool.end();
  await server.stop();
});

const anOwner = (connectionString = server.url, { schema = 'devs', awayMs = 60_000 } = {}): SessionOwner => {
  const owner = new SessionOwner({ connection: { connectionString }, schema, awayMs });
  owners.push(owner);
  return owner;
};

/** Backends that hold the lock that the owner's row names. */
const holders = async ({ id }: SessionOwner): Promise<readonly number[]> => {
  const { rows } = await pool.query<{ pid: number }>(
    `SELECT l.pid FROM devs.workers w JOIN pg_locks l ON l.locktype = 'advisory'
       AND l.classid::bigint = w.lock_key >> 32 AND l.objid::bigint = w.lock_key & 4294967295 WHERE worker_id = $1`,
    [id],
  );
  return rows.map(({ pid }) => pid);
};

/** What a listener is told next: a payload, or `null` for a new connection. */
function heard(owner: SessionOwner, channel: string): () => Promise<string | null> {
  const told: (string | null)[] = [];
  let tell = (): void => undefined;
  owner.listen(channel, (payload) => {
    told.push(payload);
    tell();
  });
  return async () => {
    while (told.length === 0) await new Promise<void>((resolve) => (tell = resolve));
    return told.shift() as string | null;
  };
}

describe('a process that holds runs', () => {
  test('is known by a row and a lock, and is gone when it closes', async () => {
    const owner = anOwner();
    await owner.describe({ slots: 3, graphs: ['runs.mail.1'] });
    await owner.ready();
    expect(await holders(owner)).toHaveLength(1);
    const row = () =>
      pool.query('SELECT slots, graphs, draining FROM devs.workers WHERE worker_id = $1', [owner.id]);
    expect((await row()).rows).toEqual([{ slots: 3, graphs: ['runs.mail.1'], draining: false }]);
    await owner.describe({ draining: true });
    expect((await row()).rows).toEqual([{ slots: 3, graphs: ['runs.mail.1'], draining: true }]);
    await owner.close();
    expect((await row()).rows).toEqual([]);
    await expect(owner.ready()).rejects.toMatchObject({ code: 'STATE_IO' });
  });

  test('hears what is said, and of each new connection', async () => {
    const owner = anOwner();
    const next = heard(owner, 'devs_told');
    expect(await next()).toBeNull();
    await pool.query(`SELECT pg_notify('devs_told', 'r1')`);
    expect(await next()).toBe('r1');
    const later = heard(owner, 'devs_jobs');
    expect(await later()).toBeNull();
    await pool.query(`SELECT pg_notify('devs_jobs', '')`);
    expect(await later()).toBe('');
  });

  test.each([
    [
      'its connection was ended',
      (owner: SessionOwner) =>
        holders(owner).then(([pid]) => pool.query('SELECT pg_terminate_backend($1)', [pid])),
    ],
    ['the server has gone and come again', () => server.restart()],
    [
      'it was taken for dead',
      (owner: SessionOwner) => pool.query('DELETE FROM devs.workers WHERE worker_id = $1', [owner.id]),
    ],
  ])('connects anew and says so where %s', async (_, befalls) => {
    const owner = anOwner();
    const next = heard(owner, 'devs_told');
    expect(await next()).toBeNull();
    const before = await holders(owner);
    await befalls(owner);
    expect(await next()).toBeNull();
    await owner.ready();
    const after = await holders(owner);
    expect(after).toHaveLength(1);
    expect(after).not.toEqual(before);
  });

  test('says what it was told while it connected', async () => {
    const owner = anOwner();
    await owner.describe({ draining: false });
    for (let n = 0; n < 1000; n += 1) owner.listen(`channel_${n}`, () => undefined);
    const draining = async (): Promise<unknown> => {
      const { rows } = await pool.query('SELECT draining FROM devs.workers WHERE worker_id = $1', [owner.id]);
      return rows[0]?.draining;
    };
    while ((await draining()) === undefined);
    expect(owner.isReady).toBe(false);
    await owner.describe({ draining: true });
    await owner.ready();
    await vi.waitUntil(draining, { timeout: 5000 });
  });

  test('says why it cannot be ready', async () => {
    const away = anOwner('postgres://devs@127.0.0.1:1/postgres', { awayMs: 50 });
    await expect(away.ready()).rejects.toMatchObject({ code: 'STATE_IO' });
    const without = anOwner(server.url, { schema: 'nowhere' });
    await expect(without.ready()).rejects.toMatchObject({ code: '42P01' });
  });
});
