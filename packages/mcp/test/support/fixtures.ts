import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base } from 'vitest';

/** Vitest's `test` with an empty folder, removed afterwards. */
export const test = base.extend<{ dir: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires destructuring here
  dir: async ({}, use) => {
    const dir = mkdtempSync(join(tmpdir(), 'devs-mcp-'));
    await use(dir);
    rmSync(dir, { recursive: true, force: true });
  },
});
