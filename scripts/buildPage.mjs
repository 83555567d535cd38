import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { bundlePage } from '../packages/ui/page/bundlePage.mjs';
import { bundledLicences } from './bundledLicences.mjs';

/** Bytes of what a browser loads first, compressed. */
const BUDGET = 150 * 1024;

/** Where @devs/ui has its page. */
export const PAGE = fileURLToPath(new URL('../packages/ui/dist/page/', import.meta.url));

/**
 * Puts the page of @devs/ui into files, with all it is made of: nothing is loaded from elsewhere at run time.
 *
 * @returns As `bundlePage`.
 * @throws Error when it has outgrown its budget.
 */
export async function buildPage() {
  const page = await bundlePage(PAGE);
  writeFileSync(join(PAGE, 'THIRD_PARTY_LICENSES.txt'), bundledLicences('The page', page.madeFrom));
  const first = page.files.filter(({ isLater }) => !isLater);
  const bytes = first.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0);
  if (bytes > BUDGET) throw new Error(`The page has ${bytes} bytes, more than ${BUDGET}.`);
  process.stdout.write(`page: ${(bytes / 1024).toFixed(0)} KiB gzip\n`);
  return page;
}
