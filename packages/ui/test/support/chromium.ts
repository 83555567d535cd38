import type { Browser } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { launchChromium } from './launchChromium.ts';

/** A Chromium that is ended after the test, or by what `atEnd` is given. @throws Error where there is none. */
export async function openChromium(
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<Browser> {
  const browser = await launchChromium();
  atEnd(() => browser.close());
  return browser;
}
