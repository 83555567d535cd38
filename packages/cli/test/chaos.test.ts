import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { bundledBin } from './support/bundledBin.ts';
import { test } from './support/fixtures.ts';

test('devs admin chaos kills real drivers, finds nothing lost and leaves nothing behind', {
  timeout: 240_000,
}, async ({ dir }) => {
  const devs = await bundledBin(join(dir, 'package'), ['src/chaos/driver.ts']);
  const argv = [devs, 'admin', 'chaos', '--kills', '1', '--json', '--dir', dir];
  const { stdout } = await promisify(execFile)(execPath, argv);
  const report = JSON.parse(stdout) as Record<string, unknown>;
  expect(report).toMatchObject({ kills: 1, runs: 1, violations: [], folder: null });
  expect(report['steps']).toBeGreaterThanOrEqual(11);
  expect(readdirSync(dir)).toEqual(['package']);
});
