import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
// @ts-expect-error: a script of the build
import { bundlePage } from '../../page/bundlePage.mjs';
import type { UiOptions } from '../../src/createUi.ts';
import { OneTimeCodes } from '../../src/session/OneTimeCodes.ts';
import { openChromium } from './chromium.ts';
import { type Served, serve } from './fixtures.ts';
import { unpackChromium } from './launchChromium.ts';

/** Somebody's browser at the page, signed in with a link of a server of their own. */
export interface Reader {
  readonly page: Page;
  /** Cuts the page off from what is new, until what it returns is called. */
  readonly deafen: () => Promise<() => Promise<void>>;
  /** Everything that the page should not have done. */
  readonly complaints: readonly string[];
}

export interface ReaderOptions extends Partial<UiOptions> {
  /** Of a state file; without one, `runs` says where they are. */
  readonly dir?: string;
  /** Who decides. */
  readonly id: string;
  /** Where the link leads, such as `/runs/shop`. @defaultValue the inbox */
  readonly at?: string;
}

/** One Chromium and one build of the page for all tests of a file; ended after them. */
export function readers(): (options: ReaderOptions) => Promise<Reader> {
  const built = mkdtempSync(join(tmpdir(), 'devs-page-'));
  const ends: (() => Promise<void>)[] = [];
  let browser: Browser | undefined;
  beforeAll(async () => {
    await unpackChromium();
    await bundlePage(built);
    browser = await openChromium((end) => ends.push(end));
  }, 300_000);
  afterAll(async () => {
    for (const end of ends) await end();
    rmSync(built, { recursive: true });
  });
  return async ({ dir, id, at, ...options }) => {
    if (browser === undefined) throw new RangeError('There is no browser yet.');
    const readAsset = async (name: string): Promise<string> => readFileSync(join(built, name), 'utf8');
    const served = await serveAs(id, dir, { readAsset, ...options });
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    // What is waited for comes, or the test ends: there is no time of its own.
    page.setDefaultTimeout(0);
    const complaints = complaintsOf(page, served.origin);
    await page.goto(`${served.origin}/#code=${served.codes.at(-1)}${at === undefined ? '' : `&at=${at}`}`);
    return { page, complaints, deafen: () => deafen(page) };
  };
}

/** The page with links of somebody. */
async function serveAs(id: string, dir: string | undefined, options: Partial<UiOptions>): Promise<Served> {
  const codes: string[] = [];
  const by = { kind: 'human', id } as const;
  const { identify, signIn } = new OneTimeCodes({ by, onCode: (code) => codes.push(code) });
  return { ...(await serve(dir, { identify, signIn, ...options })), codes };
}

async function deafen(page: Page): Promise<() => Promise<void>> {
  await page.route('**/api/changes', (route) => route.abort());
  return () => page.unroute('**/api/changes');
}

function complaintsOf(page: Page, origin: string): readonly string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) complaints.push(request.url());
  });
  return complaints;
}
