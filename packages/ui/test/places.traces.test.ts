// openChromium: in a process of its own.
import { fakeAgents } from '@devs/core/testing';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { openShop, test } from './support/fixtures.ts';
import { readers } from './support/pages.ts';
import { workingPage } from './support/workingPage.ts';

describe('screens as they are placed', { timeout: 240_000 }, () => {
  const open = readers();

  test('on a phone: nothing is wider than the screen, and the decision is always on it', async ({ dir }) => {
    const devs = await openShop(dir, fakeAgents({ tasks: 2 }));
    await devs.start({ id: 'shop', brief: '# Shop\n\nSell things.\n', review: 'task' });
    const { page } = await open({ dir, id: 'ada', at: '/runs/shop', ...(await workingPage(dir)) });
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 844 });
      await page.locator('.now').waitFor();
      expect(await overflow(page), `run, ${width}`).toBe(0);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.locator('.now .btn.item').click();
    for (const about of ['Design', 'Plan', 'Code']) {
      await page.locator('.head .chip', { hasText: about }).first().waitFor();
      await page.locator('#approve').waitFor();
      for (const width of [320, 390]) {
        await page.setViewportSize({ width, height: 844 });
        expect(await overflow(page), `${about}, ${width}`).toBe(0);
        const { bottom } = await boxOf(page, '#approve');
        expect(bottom, `${about}, ${width}`).toBeLessThanOrEqual(844);
      }
      if (about === 'Code') break;
      await page.locator('#approve').click();
      await page.getByText('Review it').click();
    }
  });

  test('each screen answers its question above the fold', async ({ dir }) => {
    const options = await workingPage(dir);
    const devs = await openShop(dir, fakeAgents({ tasks: 2 }));
    const run = await devs.start({ id: 'shop', brief: '# Shop\n\nSell things.\n', review: 'task' });
    await run.resume();
    const { page } = await open({ dir, id: 'ada', ...options });
    await page.setViewportSize({ width: 1440, height: 900 });
    const seen = async (...selectors: readonly string[]): Promise<void> => {
      for (const selector of selectors) {
        await page.locator(selector).first().waitFor();
        const { top, bottom } = await boxOf(page, selector);
        expect(top, selector).toBeGreaterThanOrEqual(0);
        expect(bottom, selector).toBeLessThanOrEqual(900);
      }
    };
    const at = async (): Promise<string> => {
      const [gate] = await run.gates();
      return `${new URL(page.url()).origin}/#/runs/shop/gates/${gate?.sessionId}`;
    };
    const approve = async (): Promise<void> => {
      for (const gate of await run.gates())
        await run.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
      await run.resume();
    };
    // What waits, since when, how much is it?
    await seen('.group .item-title', '.group .item-age', '.group .item-size', '.group .cost', '.side');
    await page.goto(await at());
    // What is proposed, where is the decision?
    await seen('.toc', '.doc .prose', 'h1', '#approve', '.decide .seal code');
    await approve();
    await page.goto(await at());
    await seen('.task h3', '.picture .node', 'h1', '#approve');
    await approve();
    await page.goto(await at());
    // Is it checked, has each criterion evidence, where do I begin?
    await seen('#crit-h', '#chk-h', '.tree-h', '.file .fh', '.diff tr', '#approve');
    expect(await outOfReach(page), 'code').toEqual([]);
    expect(await moving(page)).toBeGreaterThan(0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await moving(page)).toBe(0);
    await page.goto(`${new URL(page.url()).origin}/#/runs/shop`);
    // Does it need me, what does it do, what has it cost?
    await seen('.now h2', '.now .btn', '.figs dt', '.figs dd');
    expect(await outOfReach(page), 'run').toEqual([]);
    await page.goto(await at());
    await page.locator('#approve').waitFor();
    await page.evaluate("document.querySelector('#approve-only').click()");
    // Was it recorded, does the run go on, what is next?
    await seen('#done-h', '#go-h', '#q-h', '.go .btn');
    expect(await outOfReach(page), 'answered').toEqual([]);
  });
});

/** Controls that the keyboard cannot reach. Numbers of lines are: by `j`, `k` and `c`. */
const outOfReach = async (page: Page): Promise<unknown> =>
  page.evaluate(`[...document.querySelectorAll('button, a, input, select, textarea, summary')]
    .filter((each) => each.checkVisibility() && !each.disabled && !each.matches('button.at'))
    .filter((each) => each.tabIndex < 0 || (each.tagName === 'A' && !each.hasAttribute('href')))
    .map((each) => each.outerHTML.slice(0, 120))`);

/** Elements that would move: with a transition or an animation that takes time. */
const moving = async (page: Page): Promise<number> =>
  Number(
    await page.evaluate(`[...document.querySelectorAll('*')].filter((each) => ['', '::before', '::after'].some((part) => {
      const { animationDuration, animationName, transitionDuration } = getComputedStyle(each, part);
      const takes = (times) => times.split(', ').some((time) => Number.parseFloat(time) > 0.01);
      return takes(transitionDuration) || (animationName !== 'none' && takes(animationDuration));
    })).length`),
  );

const overflow = async (page: Page): Promise<number> =>
  Math.max(0, Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')));

async function boxOf(
  page: Page,
  selector: string,
): Promise<{ readonly top: number; readonly bottom: number }> {
  const box = await page.locator(selector).first().boundingBox();
  return { top: box?.y ?? -1, bottom: (box?.y ?? 0) + Math.min(box?.height ?? Number.POSITIVE_INFINITY, 40) };
}
