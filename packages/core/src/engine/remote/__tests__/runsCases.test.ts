import { runFilesCases, runsCases } from '@devs/conformance';
import { describe, test } from 'vitest';
import { createDatabase } from '../../../db/createDatabase.ts';
import { MemoryRuns } from '../../../testing/MemoryRuns.ts';
import { FileRuns } from '../FileRuns.ts';

describe('runs in one state file', () => {
  test.each(runsCases)('$name', async ({ check }) => {
    const db = createDatabase({ dbPath: ':memory:' });
    await check({ runs: new FileRuns(db), elsewhere: new FileRuns(db), free: async () => undefined });
    db.close();
  });
});

describe('runs that have a file each', () => {
  test.each([...runsCases, ...runFilesCases])('$name', async ({ check }) => {
    const runs = new MemoryRuns();
    await check({ runs, elsewhere: runs, free: async (id) => runs.free(id) });
  });
});
