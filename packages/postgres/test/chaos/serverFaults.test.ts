import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { longer } from '../../../core/test/support/longer.ts';
import { type PostgresServer, startPostgres } from '../support/startPostgres.ts';
import { betweenClaims } from './betweenClaims.ts';
import { fallBack } from './fallBack.ts';
import { loseAnswers } from './loseAnswers.ts';
import { promote } from './promote.ts';

const LOSSES = howMany('DEVS_LOST_ANSWERS', 4);
const ROUNDS = howMany('DEVS_STANDBYS', 1);
const PROMOTIONS = howMany('DEVS_PROMOTIONS', 1);
const FAILOVERS = howMany('DEVS_CLUSTER_FAILOVERS', 1);

let server: PostgresServer;
let dir: string;
beforeAll(async () => {
  server = await startPostgres({ isPutBack: true });
  dir = mkdtempSync(join(tmpdir(), 'devs-faults-'));
});
afterAll(async () => {
  await server.stop();
  rmSync(dir, { recursive: true });
});

test(
  'answers of PostgreSQL that are lost cost no lease and no call',
  () => loseAnswers({ server, dir }, LOSSES),
  longer(60_000, LOSSES / 10),
);

test(
  'a server that comes back without commits is found, and nothing that was lost is continued',
  async () => {
    for (let round = 0; round < ROUNDS; round += 1) await fallBack({ server, dir }, round);
  },
  longer(90_000, ROUNDS / 2),
);

test(
  'a server that comes back between two claims of a run leaves none with who does not know it',
  async () => {
    for (let round = 0; round < FAILOVERS; round += 1)
      expect(await betweenClaims({ server, dir }, round)).toMatchObject({ stuck: [] });
  },
  longer(90_000, FAILOVERS / 2),
);

test(
  'a standby that takes over without the last commits continues nothing of them, and no run stands still',
  async () => {
    for (let round = 0; round < PROMOTIONS; round += 1) {
      const promotion = await promote({ server, dir }, round, PROMOTIONS === 1 ? 500 : 6000);
      expect(promotion.violations).toEqual([]);
      expect(promotion.lostCalls).toBeGreaterThan(0);
    }
  },
  longer(90_000, PROMOTIONS),
);
