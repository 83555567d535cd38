import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { appending, changing, graphOf, type Workload } from '../../bench/state/workloads.ts';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { SqliteSaver } from '../../src/engine/saver/SqliteSaver.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { longer } from '../support/longer.ts';

// LangGraph's own saver takes 106.5 MB for the first, and grows with the square of the steps in the others. `bench:state`
// measures the same at full length, with times and memory.

/** Most that the file may take per step. */
const STEP_BYTES = 10_000;
/** Steps that change little of much; a file of few is empty tables for the most part. */
const CHANGES = howMany('DEVS_GROWTH_STEPS', 500);
/** Steps of the shorter run; the longer one has twice as many. */
const APPENDS = Math.ceil(CHANGES / 5);

/** Bytes of the state file after a run, its log moved into it. */
async function fileAfter(workload: Workload, dbPath: string): Promise<number> {
  const db = createDatabase({ dbPath, synchronous: 'normal' });
  const graph = graphOf(workload, new SqliteSaver(db), async (_, update) => update());
  const config = { configurable: { thread_id: 'r' }, recursionLimit: 10_000, durability: 'sync' as const };
  await graph.invoke(workload.input(), config);
  db.close();
  return statSync(dbPath).size;
}

describe('the state file', () => {
  test('takes less than 10 KB for each step that changes 1 KiB of 101', {
    timeout: longer(60_000, CHANGES / 250),
  }, async ({ annotate, dbPath }) => {
    const bytes = await fileAfter(changing(CHANGES), dbPath);
    await annotate(`${bytes} bytes`);
    expect(bytes).toBeLessThanOrEqual(CHANGES * STEP_BYTES);
  });

  test.for(['text', 'random'] as const)(
    'grows with what is appended and not with its square: %s',
    {
      timeout: longer(60_000, CHANGES / 250),
    },
    async (content, { annotate, dbPath }) => {
      const [once = 0, twice = 0] = [
        await fileAfter(appending(APPENDS, content), dbPath),
        await fileAfter(appending(2 * APPENDS, content), join(dirname(dbPath), 'twice.sqlite')),
      ];
      await annotate(`${APPENDS} and ${2 * APPENDS} KiB appended: ${once}, ${twice} bytes`);
      expect(twice).toBeLessThanOrEqual(2.4 * once);
      expect(twice).toBeLessThanOrEqual(2 * APPENDS * STEP_BYTES);
    },
  );
});
