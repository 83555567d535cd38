import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { SqliteStore } from '../../src/langgraph.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { test } from '../support/fixtures.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { countedVisits, VISITS } from './countedVisits.ts';

const CHILD = 'packages/core/test/crash/killedStore.child.ts';

/** A process counts a visit and dies before its node is committed; the run is then driven to its end here. */
async function visitedOverAKill(dbPath: string, read: 'in a step' | 'anew') {
  const died = await spawnProgram(CHILD, [dbPath, read]).finished;
  expect(died).toMatchObject({ signal: 'SIGKILL', stderr: '' });
  const app = countedVisits(dbPath, read);
  const atDeath = (await app.memory.get(VISITS, 'visits'))?.value;
  const { status, values } = await app.run('run');
  const found = await app.memory.search([]);
  app.close();
  return { atDeath, status, values, found: found.map(({ value }) => value) };
}

describe('a process killed between a write to the store and the commit of its node', () => {
  test('leaves the item, and the node that runs again writes the same where it read in a step', async ({
    dbPath,
  }) => {
    expect(await visitedOverAKill(dbPath, 'in a step')).toEqual({
      atDeath: { count: 1 },
      status: 'completed',
      values: { count: 1 },
      found: [{ count: 1 }],
    });
  });

  test('reads what it wrote itself where it does not', async ({ dbPath }) => {
    expect(await visitedOverAKill(dbPath, 'anew')).toMatchObject({
      atDeath: { count: 1 },
      found: [{ count: 2 }],
    });
  });
});

describe('two processes that write to one store', () => {
  test('lose nothing, and an item has the value of one of them', async ({ dbPath }) => {
    createDatabase({ dbPath }).close();
    const ended = await Promise.all(['one', 'two'].map((who) => spawnProgram(CHILD, [dbPath, who]).finished));
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    const db = createDatabase({ dbPath });
    const store = new SqliteStore(db);
    for (const who of ['one', 'two']) {
      const items = await store.search(['filled', who], { limit: 1_000 });
      expect(items.map(({ value }) => value['n'])).toEqual(Array.from({ length: 100 }, (_, n) => n));
    }
    const shared = await store.search(['shared'], { limit: 1_000 });
    expect(shared).toHaveLength(10);
    for (const { value } of shared)
      expect(value).toMatchObject({ n: expect.any(Number), by: /^(?:one|two)$/ });
    expect(doctor(db).findings).toEqual([]);
    db.close();
  });
});
