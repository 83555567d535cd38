import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base } from 'vitest';
import { type Served, serveApps } from './serveApps.ts';

interface Fixtures {
  /** A folder of the test. */
  readonly dir: string;
  /** The programs of the tests over one file, served on this machine. */
  readonly served: Served;
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires destructuring here
  dir: async ({}, use) => {
    const dir = mkdtempSync(join(tmpdir(), 'devs-server-'));
    await use(dir);
    rmSync(dir, { recursive: true });
  },
  served: async ({ dir }, use) => {
    const served = await serveApps(dir);
    await use(served);
    await served.close();
  },
});
