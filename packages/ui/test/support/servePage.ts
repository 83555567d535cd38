import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { createUi, OneTimeCodes, serveOnLoopback, type UiOptions } from '../../src/index.ts';

export type Served = Pick<UiOptions, 'dir' | 'file' | 'readCode' | 'code' | 'drive' | 'driving'>;

/**
 * Serves the runs at a place as `devs ui` does, with the page as it was built into a folder, and signs a browser's page in.
 * Whoever calls it closes it: it is for programs, too.
 */
export async function servePage(page: Page, at: Served, built: string) {
  let code = '';
  const by = { kind: 'human', id: 'ada' } as const;
  const { identify, signIn } = new OneTimeCodes({ by, onCode: (next) => (code = next) });
  const readAsset = async (name: string): Promise<string> => readFileSync(join(built, name), 'utf8');
  const served = await serveOnLoopback({
    port: 0,
    handler: (hosts) => createUi({ ...at, hosts, identify, signIn, readAsset }),
  });
  const origin = `http://localhost:${served.port}`;
  await page.goto(`${origin}/#code=${code}`);
  await page.locator('main h1').first().waitFor();
  return { origin, close: () => served.close() };
}
