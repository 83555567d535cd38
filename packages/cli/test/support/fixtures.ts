import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base } from 'vitest';
import { UserCheckout } from '../../../core/test/support/UserCheckout.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));

export const BRIEF: string = join(FIXTURES, 'sum.md');
export const AGENTS = `replay:${join(FIXTURES, 'sum.jsonl')}`;
/** Runs the tests of the sum. */
export const CHECK_SUM = `sh ${join(FIXTURES, 'check.sh')}`;
export const GATED_CHECK: string = join(FIXTURES, 'gatedCheck.sh');

/** A command line that starts the run `sum` of the fixtures. */
export const RUN_SUM: readonly string[] = [
  'run',
  BRIEF,
  '--id',
  'sum',
  '--agents',
  AGENTS,
  '--check',
  CHECK_SUM,
  '--no-sandbox',
];

/** A command line that starts a run without agents: gates alone, and nothing to wait for. */
export const RUN_EMPTY: readonly string[] = ['run', BRIEF, '--id', 'sum', '--agents', 'none'];

interface Fixtures {
  /** An empty project folder, removed afterwards. */
  dir: string;
  /** That folder as a user's repository: the test fails when anything but the user's own steps changed it. */
  user: UserCheckout;
}

/** Vitest's `test` with a project folder. */
export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires destructuring here
  dir: async ({}, use) => {
    const dir = mkdtempSync(join(tmpdir(), 'devs-cli-'));
    await use(dir);
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  },
  user: async ({ dir }, use) => {
    const user = UserCheckout.create(dir);
    await use(user);
    user.assertUntouched();
  },
});
