import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base } from 'vitest';

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));

export const BRIEF: string = join(FIXTURES, 'sum.md');
export const AGENTS = `replay:${join(FIXTURES, 'sum.jsonl')}`;
export const GATED_CHECK: string = join(FIXTURES, 'gatedCheck.mjs');

/** A command line that starts the run `sum` of the fixtures. */
export const RUN_SUM: readonly string[] = [
  'run',
  BRIEF,
  '--id',
  'sum',
  '--agents',
  AGENTS,
  '--check',
  'node --test',
  '--no-sandbox',
];

/** Vitest's `test` with an empty project folder, removed afterwards. */
export const test = base.extend<{ dir: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires destructuring here
  dir: async ({}, use) => {
    const dir = mkdtempSync(join(tmpdir(), 'devs-cli-'));
    await use(dir);
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  },
});
