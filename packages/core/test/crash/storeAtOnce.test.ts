import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { SqliteStore } from '../../src/langgraph.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { test } from '../support/fixtures.ts';
import { spawnProgram } from '../support/spawnTs.ts';

const CHILD = 'packages/core/test/crash/storeAtOnce.child.ts';

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
