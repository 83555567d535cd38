import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packed from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

/** Unpacked once per checkout, and not into a folder that is emptied with every start of the machine. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/chromium', import.meta.url));

/**
 * A real Chromium: the one that `DEVS_TEST_CHROME` names, else the one of the npm registry. Whoever opens it closes it.
 *
 * @throws Error that says so where there is neither.
 */
export async function launchChromium(): Promise<Browser> {
  const executablePath = process.env['DEVS_TEST_CHROME'] ?? (await unpacked());
  return chromium.launch({ executablePath, args: ['--no-sandbox'] }).catch((cause: unknown) => {
    throw new Error(
      `Chromium does not start here: set DEVS_TEST_CHROME to one that does. ${executablePath}`,
      { cause },
    );
  });
}

/** For before all tests: the first time it takes as long as 200 MB take to be written. */
export async function unpackChromium(): Promise<void> {
  if (process.env['DEVS_TEST_CHROME'] === undefined) await unpacked();
}

/** What a killed process has begun to unpack is never taken for it. */
async function unpacked(): Promise<string> {
  if (!existsSync(CACHE)) {
    mkdirSync(dirname(CACHE), { recursive: true });
    const fresh = mkdtempSync(`${CACHE}-`);
    await inTmpdir(fresh, () => packed.executablePath());
    if (existsSync(CACHE)) rmSync(fresh, { recursive: true });
    else renameSync(fresh, CACHE);
  }
  return join(CACHE, 'chromium');
}

async function inTmpdir<T>(dir: string, work: () => Promise<T>): Promise<T> {
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = dir;
  try {
    return await work();
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  }
}
