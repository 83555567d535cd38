// @ts-expect-error: a script of the build
import { bundlePage } from '../../page/bundlePage.mjs';

/** Builds the page into a folder, for tests of other packages. */
export async function buildPageInto(dir: string): Promise<void> {
  await bundlePage(dir);
}
