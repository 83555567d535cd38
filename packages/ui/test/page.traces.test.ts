import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Orchestrator, OrchestratorOptions } from '@devs/core';
import { fakeAgents } from '@devs/core/testing';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, vi } from 'vitest';
// @ts-expect-error: a script of the build
import { bundlePage } from '../page/bundlePage.mjs';
import { openChromium } from './support/chromium.ts';
import { openShop, type Served, serve, test } from './support/fixtures.ts';
import { unpackChromium } from './support/launchChromium.ts';

/** The types of the DOM are not those of this project: those of React declare elements without members. */
interface Link {
  getAttribute(name: string): string | null;
}

/** What a model could write to have a browser do something, or a person see something else. */
const HOSTILE = [
  '# Design',
  '',
  '<img src=x onerror="document.title=\'ran\'">',
  "[press](javascript:document.title='ran')",
  '![look](https://evil.example/pixel.png)',
  "<script>document.title = 'ran'</script>",
  'pay \u202Eeve\u202C now',
  '',
  '| a | b |',
  '| - | -: |',
  '| 1 | [two](https://example.org/two) |',
].join('\n');

/** Waits for what is going to be, however slow the machine is: ms. */
const SOON = { timeout: 60_000 };

const NAME = '<img src=x onerror="document.title=\'ran\'"> \u202Eeman';

function hostileAgents(): NonNullable<OrchestratorOptions['agents']> {
  const agents = fakeAgents({ tasks: 1 });
  return {
    ...agents,
    design: async (request, call) => {
      await agents.design(request, call);
      const content =
        request.feedback === null
          ? HOSTILE
          : `# Design\n\nShorter, because: ${request.feedback.split('\n')[0]}\n`;
      return { documents: [{ type: 'PRD', title: NAME, content }] };
    },
  };
}

/** The page as it is built, out of a folder of its own. */
async function servePage(dir: string): Promise<Served & { readonly drafts: string }> {
  const built = mkdtempSync(join(tmpdir(), 'devs-page-'));
  onTestFinished(() => rmSync(built, { recursive: true }));
  await bundlePage(built);
  const drafts = join(dir, 'ui', 'drafts');
  const served = await serve(dir, {
    drafts,
    readAsset: async (name) => readFileSync(join(built, name), 'utf8'),
  });
  return { ...served, drafts };
}

/** Everything that a page should not have done. */
function complaintsOf(page: Page, origin: string): readonly string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (line) => {
    if (line.type() === 'error') complaints.push(line.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) complaints.push(request.url());
  });
  return complaints;
}

/** All that is kept. */
const draftsIn = (dir: string): string =>
  readdirSync(dir)
    .map((name) => readFileSync(join(dir, name), 'utf8'))
    .join('');

async function drive(devs: Orchestrator): Promise<string> {
  return (await (await devs.run('shop')).resume()).status;
}

describe('the page in Chromium', () => {
  beforeAll(unpackChromium, 300_000);

  test('from the inbox to commits: read, send back, read the next version, approve', async ({ dir }) => {
    const devs = await openShop(dir, hostileAgents());
    await devs.start({ id: 'shop', brief: '# Shop \u202Epohs\n\nSell things.\n' });
    await drive(devs);
    const { origin, codes, drafts } = await servePage(dir);
    const browser = await openChromium();
    let page = await browser.newPage();
    const complaints = [complaintsOf(page, origin)];

    await page.goto(`${origin}/#code=${codes[0]}`);
    const row = page.locator('main a.item', { hasText: 'Design' });
    await row.waitFor();
    expect(page.url()).not.toContain('code');
    expect(await page.title()).toBe('(1) Inbox · devs');

    // By keyboard, from the inbox to the words.
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const article = page.locator('main article', { hasText: 'eman' });
    await article.waitFor();
    const shown = await article.textContent();
    expect(shown).toContain('<img src=x onerror');
    expect(shown).toContain('⟨U+202E⟩eve');
    expect(await page.locator('img, script:not([src]), iframe').count()).toBe(0);
    expect(
      await page
        .locator('article a')
        .evaluateAll((links) =>
          (links as unknown as readonly Link[]).map((link) => link.getAttribute('href')),
        ),
    ).toEqual(['https://example.org/two']);
    await expect.poll(() => article.locator('h2').first().textContent()).toContain('⟨U+202E⟩eman');
    // By keyboard to a line, too; what was written outlives the tab.
    for (let line = 1; line <= 3; line += 1) await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.locator('.note.own textarea:focus').waitFor();
    await page.keyboard.type('Whom do we pay?');
    await page.keyboard.press('Escape');
    await page.locator('button.at[aria-label$=" of PRD"]:focus').waitFor();
    await page.keyboard.press('r');
    await page.locator('#words:focus').waitFor();
    await page.keyboard.type('Say less.');
    await page.getByText('saved on disk').waitFor();
    await vi.waitFor(() => expect(draftsIn(drafts)).toContain('Say less.'), SOON);
    const gateAt = page.url();
    await page.close();
    page = await browser.newPage();
    complaints.push(complaintsOf(page, origin));
    await page.goto(`${origin}/#code=${codes[1]}`);
    await page.locator('main a.item', { hasText: 'Design' }).waitFor();
    await page.goto(gateAt);
    await page.locator('.note.own textarea').waitFor();
    await expect.poll(() => page.locator('.note.own textarea').inputValue()).toBe('Whom do we pay?');
    await page.locator('#reject').click();
    await expect.poll(() => page.locator('#words').inputValue()).toBe('Say less.');
    await page.getByRole('button', { name: 'Send back with 1 comment' }).click();
    await page.locator('h1', { hasText: 'You sent back' }).waitFor();
    // Where nobody drives it, the page says what to type, and waits.
    await page.getByText('devs resume shop').waitFor();

    // Whoever drives the run takes it up; the page is told of it by nobody but the file.
    expect(await drive(devs)).toBe('waiting');
    await page.getByText('Review it').click();
    await page.locator('article p', { hasText: 'Shorter, because: Say less.' }).waitFor();
    await expect.poll(() => page.locator('blockquote.feedback').textContent()).toContain('Say less.');
    const answered = await page.locator('.note.last').first().textContent();
    expect(answered).toContain('Whom do we pay?');
    expect(answered).toContain('the text has changed');
    expect(draftsIn(drafts)).toBe('');
    // Changes since the last reading are marked at once; `d` hides the marks.
    await page.locator('.doc ins').first().waitFor();
    await expect.poll(() => page.locator('.doc del').count()).toBeGreaterThan(0);
    await page.locator('.since', { hasText: '1 of 1 comments answered' }).waitFor();
    await page.locator('h1.title').click();
    await page.keyboard.press('d');
    await page.locator('.doc ins').first().waitFor({ state: 'detached' });
    await page.keyboard.press('d');
    await page.locator('.doc ins').first().waitFor();
    // In the margin of a wide screen, else below the quote.
    const paperEnd = async (): Promise<number> => (await page.locator('.paper').boundingBox())?.width ?? 0;
    const noteX = async (): Promise<number> => (await page.locator('.said').first().boundingBox())?.x ?? 0;
    const paperX = async (): Promise<number> => (await page.locator('.paper').boundingBox())?.x ?? 0;
    expect(await noteX()).toBeLessThan((await paperX()) + (await paperEnd()));
    await page.setViewportSize({ width: 1_440, height: 900 });
    await expect.poll(noteX).toBeGreaterThan((await paperX()) + (await paperEnd()));
    await page.setViewportSize({ width: 1_280, height: 720 });
    await page.getByText('Compare versions').click();
    await page.locator('.difference tr.removed').first().waitFor();
    await expect.poll(() => page.locator('.difference tr.removed').count()).toBeGreaterThan(5);

    for (const about of ['Design', 'Plan']) {
      await page.locator('nav a', { hasText: 'Inbox' }).click();
      await page.locator('main a.item', { hasText: about }).first().click();
      const [gate] = await (await devs.run('shop')).gates();
      const button = page.locator('#approve');
      await button.waitFor();
      await expect
        .poll(() => page.locator('.decide .seal code').getAttribute('title'))
        .toBe(gate?.artifactHash);
      await page.keyboard.press('a');
      await page.keyboard.press('Enter');
      await page.locator('h1', { hasText: 'You approved' }).waitFor();
      await drive(devs);
    }

    await page.goto(`${origin}/#/runs/shop`);
    await page.locator('main .status.completed').first().waitFor();
    const { tasks, cost } = await (await devs.run('shop')).status();
    await expect.poll(() => page.locator('main').textContent()).toContain(tasks[0]?.gitHash?.slice(0, 8));
    await expect.poll(() => page.locator('.figures').textContent()).toContain(String(cost.calls));
    expect(await page.title()).toMatch(/^Shop .* · devs$/);
    expect(complaints.flat()).toEqual([]);
  });

  test('a person’s own version of a plan closes the gate that was open, and the page shows what has changed', async ({
    dir,
  }) => {
    const devs = await openShop(dir);
    await devs.start({ id: 'shop', brief: '# Shop', gates: { design: 'auto' } });
    await drive(devs);
    const { origin, codes } = await servePage(dir);
    const page = await (await openChromium()).newPage();
    const complaints = complaintsOf(page, origin);
    await page.goto(`${origin}/#code=${codes[0]}`);
    await page.locator('main a.item', { hasText: 'Plan' }).click();
    await page.locator('#approve').waitFor();
    await page.keyboard.press('e');
    await page.getByLabel('Name').first().fill('Do it well');
    await page.getByRole('button', { name: 'Propose this version' }).click();
    await page.locator('h1', { hasText: 'You proposed your version' }).waitFor();
    expect(await page.locator('#approve').count()).toBe(0);
    await drive(devs);
    await page.getByText('See it again').click();
    await page.locator('.difference tr.added', { hasText: 'Do it well' }).waitFor();
    await page.getByText('Side by side').click();
    await page.locator('.difference td.added', { hasText: 'Do it well' }).waitFor();
    await page.getByText('Open the current gate').click();
    await page.locator('h3', { hasText: 'Do it well' }).waitFor();
    await page.locator('#approve').waitFor();
    expect(complaints).toEqual([]);
  });
});
