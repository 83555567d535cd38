import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { test as base } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';

interface Fixtures {
  /** Path of a state file in a fresh folder, removed after the test. Nothing is opened. */
  dbPath: string;
  /** That file, open and migrated; closed after the test. */
  db: Database;
}

/** Vitest's `test` with a real state file in a temporary folder. */
export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires destructuring here
  dbPath: async ({}, use) => {
    const dir = mkdtempSync(join(tmpdir(), 'devs-'));
    await use(join(dir, 'state.sqlite'));
    rmSync(dir, { recursive: true, force: true });
  },
  db: async ({ dbPath }, use) => {
    const db = createDatabase({ dbPath });
    await use(db);
    db.close();
  },
});
