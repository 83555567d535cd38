import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import packed from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';
import { onTestFinished } from 'vitest';

/** Unpacked once per checkout, and not into a folder that is emptied with every start of the machine. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/chromium', import.meta.url));

/**
 * A real Chromium, ended after the test: the one that `DEVS_TEST_CHROME` names, else the one of the npm registry.
 *
 * @throws Error that says so where there is neither.
 */
export async function openChromium(): Promise<Browser> {
  const executablePath = process.env['DEVS_TEST_CHROME'] ?? (await unpacked());
  const browser = await chromium
    .launch({ executablePath, args: ['--no-sandbox'] })
    .catch((cause: unknown) => {
      throw new Error(
        `Chromium does not start here: set DEVS_TEST_CHROME to one that does. ${executablePath}`,
        {
          cause,
        },
      );
    });
  onTestFinished(() => browser.close());
  return browser;
}

async function unpacked(): Promise<string> {
  if (existsSync(`${CACHE}/chromium`)) return `${CACHE}/chromium`;
  mkdirSync(CACHE, { recursive: true });
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = CACHE;
  try {
    return await packed.executablePath();
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  }
}
