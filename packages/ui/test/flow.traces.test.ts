// openChromium: in a process of its own.
import { Orchestrator } from '@devs/core';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { test } from './support/fixtures.ts';
import { readers } from './support/pages.ts';
import { seriousOn } from './support/seriousOn.ts';
import { workingPage } from './support/workingPage.ts';

const WIDTHS = [
  { width: 1_440, height: 900 },
  { width: 390, height: 844 },
];

/** Comments on the line with the focus, rejects with words, and lets the run go on. */
async function sendBack(page: Page, said: string): Promise<void> {
  await page.keyboard.press('c');
  await page.locator('.note.own textarea:focus').fill(said);
  await page.keyboard.press('Escape');
  await page.keyboard.press('r');
  await page.locator('#words').fill(`${said} Please.`);
  await page.getByRole('button', { name: 'Send back with 1 comment' }).click();
  await page.locator('h1:text("You sent back"), .decide .problem').first().waitFor();
  expect(await page.locator('.decide .problem').allTextContents()).toEqual([]);
  await page.locator('.path li.waits').waitFor();
  await page.getByRole('button', { name: /^Go on/ }).click();
  await page.getByText('Review it').click();
}

async function approveAndGoOn(page: Page): Promise<void> {
  await page.locator('#approve').waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('Enter');
  await page.locator('h1', { hasText: 'You approved' }).waitFor();
}

/** The open question, once the page has moved on to it. */
async function nextGate(page: Page, about: string): Promise<void> {
  await page.getByText('Review it').click();
  await page.locator('.head .chip', { hasText: about }).first().waitFor();
}

describe('a run from its brief to its end, without a terminal', { timeout: 240_000 }, () => {
  const open = readers();

  test.for(WIDTHS)(
    'at $width px: comments, versions, code, commits, rewind and undo',
    async (size, { dir }) => {
      const { page, complaints } = await open({ dir, id: 'ada', ...(await workingPage(dir)) });
      await page.setViewportSize(size);
      await page.getByText('New run from a brief').click();
      await page.locator('#brief').fill('# Shop\n\nSell things.\n');
      await page.getByRole('button', { name: 'Start the run' }).click();
      await page.locator('.now .btn.item').click();

      await page.locator('.doc button.at').first().focus();
      await sendBack(page, 'Whom do we pay?');
      await page.locator('.note.last', { hasText: 'Whom do we pay?' }).waitFor();
      await page.locator('.doc ins').first().waitFor();
      // What is on both screens is looked at on one.
      if (size.width > 500) expect(await seriousOn(page), 'marks and notes').toEqual([]);
      await approveAndGoOn(page);
      if (size.width > 500) expect(await seriousOn(page), 'after a decision').toEqual([]);
      await nextGate(page, 'Plan');
      await approveAndGoOn(page);
      await nextGate(page, 'Code');

      await page.locator('.eyebrow', { hasText: 'task 1 of 2' }).waitFor();
      await page.locator('.diff button.at').first().waitFor({ state: 'attached' });
      await page.keyboard.press(']');
      await page.keyboard.press('j');
      await sendBack(page, 'Why this line?');
      await page.locator('.note.last', { hasText: 'Why this line?' }).waitFor();
      await approveAndGoOn(page);
      await nextGate(page, 'Code');
      await approveAndGoOn(page);
      await page.getByText('See the run').click();

      await page.locator('.commits li').nth(1).waitFor();
      await expect.poll(() => page.locator('.commits li', { hasText: 'approved by ada' }).count()).toBe(2);
      await expect.poll(() => page.locator('.bar.waiting').count()).toBeGreaterThan(3);
      await page.getByRole('radio', { name: /^End of T1/ }).check();
      await page.getByRole('button', { name: 'Rewind the run to the end of T1' }).click();
      await page.getByText('rewound to the end of T1, undone: T2').waitFor();
      await page.getByRole('button', { name: 'Undo the rewind' }).click();
      await page.getByText('rewind undone').first().waitFor();
      expect(complaints).toEqual([]);
      const devs = await Orchestrator.open({ dir, readOnly: true });
      expect((await (await devs.run('shop')).status()).status).toBe('completed');
      devs.close();
    },
  );
});
