import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { type PostgresServer, startPostgres } from '../support/startPostgres.ts';
import { freezeAndThaw } from './freezeAndThaw.ts';
import { POINTS } from './points.ts';

const IS_LONG = howMany('DEVS_FREEZES', 1) > 1;

let server: PostgresServer;
let dir: string;
beforeAll(async () => {
  server = await startPostgres(IS_LONG ? { settings: { max_connections: '200' } } : {});
  dir = mkdtempSync(join(tmpdir(), 'devs-freezes-'));
});
afterAll(async () => {
  await server.stop();
  rmSync(dir, { recursive: true });
});

test.concurrent.each(IS_LONG ? POINTS : POINTS.slice(0, 1))(
  'a worker that stands still $name writes nothing and calls nobody when it goes on',
  async (point) => {
    const thawed = await freezeAndThaw(point, { url: server.url, dir, isHastened: !IS_LONG });
    expect(thawed.after).toEqual(thawed.before);
    expect(thawed).toMatchObject({ calls: 0, violations: [] });
  },
  120_000,
);
