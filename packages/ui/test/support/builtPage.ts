import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
// @ts-expect-error: a script of the build
import { bundlePage } from '../../page/bundlePage.mjs';
import type { ReadAsset } from '../../src/routes/assets.ts';

/** The page as it is built, out of a folder of its own that is removed after the test. */
export async function builtPage(): Promise<ReadAsset> {
  const built = mkdtempSync(join(tmpdir(), 'devs-page-'));
  onTestFinished(() => rmSync(built, { recursive: true }));
  await bundlePage(built);
  return async (name) => readFileSync(join(built, name), 'utf8');
}
