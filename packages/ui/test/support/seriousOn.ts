import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** A button's background changes over some time, its text at once. What began to move before motion was reduced goes on. */
const BACKGROUNDS_ARE_THERE = `Promise.allSettled(
  document.getAnimations().filter((each) => each instanceof CSSTransition).map(({ finished }) => finished),
).then(() => undefined)`;

/** What axe finds serious or worse, in both colour schemes: rule, element and what is wrong with it. */
export async function seriousOn(page: Page): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const colorScheme of ['light', 'dark'] as const) {
    // A button that appears while axe looks is there at once.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(BACKGROUNDS_ARE_THERE);
    await page.evaluate(axe.source);
    // The second time, only what colours can change.
    const rules = colorScheme === 'light' ? {} : { runOnly: ['color-contrast'] };
    const options = JSON.stringify({ ...rules, resultTypes: ['violations'] });
    const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as axe.AxeResults;
    for (const { id, impact, nodes } of violations) {
      if (impact !== 'serious' && impact !== 'critical') continue;
      for (const { html, failureSummary } of nodes)
        found.add(`${colorScheme} ${id}: ${html} ${failureSummary}`);
    }
  }
  return [...found];
}
