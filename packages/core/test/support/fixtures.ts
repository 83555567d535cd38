import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
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

/** Of an empty state file, which a copy has ten times as fast as all migrations make it; made when first needed. */
let template: string | undefined;

process.on('exit', () => {
  if (template !== undefined) rmSync(template, { recursive: true, force: true });
});

/** Makes an empty state file where there is none, as the first open does. */
export function makeStateFile(dbPath: string): void {
  if (existsSync(dbPath)) return;
  template ??= mkdtempSync(join(tmpdir(), 'devs-template-'));
  const file = join(template, 'state.sqlite');
  if (!existsSync(file)) createDatabase({ dbPath: file }).close();
  copyFileSync(file, dbPath);
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
    makeStateFile(dbPath);
    const db = createDatabase({ dbPath });
    await use(db);
    db.close();
  },
});
