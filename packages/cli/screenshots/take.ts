// `pnpm screenshots`: the pictures of README and docs, from two real runs: the demo's recording, up to the review of its first
// task and on to its end, and the example of a graph of one's own. Writes docs/images/*.png.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Orchestrator, type Run } from '@devs/core';
import type { UiOptions } from '@devs/ui';
import { publishing } from '../../../examples/own-graph/publishing.ts';
// @ts-expect-error: a script of the build
import { bundlePage } from '../../ui/page/bundlePage.mjs';
import { launchChromium, unpackChromium } from '../../ui/test/support/launchChromium.ts';
import { type Served, servePage } from '../../ui/test/support/servePage.ts';
import { EXIT } from '../src/exitCodes.ts';
import { readShownDiff } from '../src/render/reviewDiff.ts';

type Browser = Awaited<ReturnType<typeof launchChromium>>;
type Page = Awaited<ReturnType<Browser['newPage']>>;

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const IMAGES = join(ROOT, 'docs', 'images');
const EXAMPLE = join(ROOT, 'examples', 'slugify');
const SIZE = { width: 1100, height: 760 };
const ADA = { kind: 'human', id: 'ada' } as const;

const work = mkdtempSync(join(tmpdir(), 'devs-screenshots-'));
const built = join(work, 'page');

/** The `devs` command on the project of the pictures, from the sources. */
function devs(...words: readonly string[]): string {
  const command = ['--conditions=@devs/source', '--import', 'tsx', join(ROOT, 'packages/cli/src/bin.ts')];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...command, ...words], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== EXIT.ok && status !== EXIT.resumable)
    throw new Error(`devs ${words.join(' ')} ended with ${status}:\n${stderr}`);
  return stdout;
}

/** A page, signed in, of the runs at a place. */
async function openPage(browser: Browser, at: Served) {
  const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light', reducedMotion: 'reduce' });
  page.setDefaultTimeout(0);
  return { page, ...(await servePage(page, at, built)) };
}

interface Shot {
  readonly url: string;
  readonly name: string;
  /** What has to be there. */
  readonly ready: string;
  /** What is at the top of the picture. @defaultValue the page's own top */
  readonly from?: string;
}

async function take(page: Page, { url, name, ready, from }: Shot): Promise<void> {
  await page.goto(url);
  await page.locator(ready).first().waitFor();
  if (from !== undefined)
    await page.evaluate(`document.querySelector('${from}').scrollIntoView({ block: 'start' })`);
  await page.screenshot({ path: join(IMAGES, `${name}.png`) });
  process.stdout.write(`${name}.png\n`);
}

async function approve(run: Run): Promise<void> {
  for (const gate of await run.gates()) await run.decide(gate, { approved: true, by: ADA });
}

async function ofPipeline(browser: Browser): Promise<void> {
  const dir = join(work, 'slugify');
  mkdirSync(dir);
  const told = [
    '--dir',
    dir,
    '--no-repository',
    '--id',
    'slugify',
    '--no-sandbox',
    '--no-ask',
    '--review',
    'task',
  ];
  const agents = ['--agents', `replay:${join(EXAMPLE, 'recording.jsonl')}`];
  devs('run', join(EXAMPLE, 'brief.md'), ...told, ...agents);
  const file = await Orchestrator.open({ dir: join(dir, '.devs') });
  const run = await file.run('slugify');
  const readCode: UiOptions['readCode'] = async (gate, since) => {
    const shown = await readShownDiff(gate, since, { dir });
    if (shown === null || typeof shown === 'string') return null;
    return { diff: shown.text, unshown: [] };
  };
  const { page, origin, close } = await openPage(browser, { dir: join(dir, '.devs'), readCode });
  for (const shot of [
    { name: 'gate', ready: 'main article' },
    { name: 'plan', ready: 'main .card' },
    { name: 'code', ready: 'main .diff', from: '.diff' },
  ]) {
    const [gate] = await run.gates();
    await take(page, { url: `${origin}/#/runs/slugify/gates/${gate?.sessionId}`, ...shot });
    await approve(run);
    devs('resume', 'slugify', '--dir', dir, '--no-ask', '--no-sandbox');
  }
  while ((await run.gates()).length > 0) {
    await approve(run);
    devs('resume', 'slugify', '--dir', dir, '--no-ask', '--no-sandbox');
  }
  await take(page, { url: `${origin}/#/runs/slugify`, name: 'timeline', ready: '.lane', from: '.figures' });
  file.close();
  await close();
}

async function ofOwnGraph(browser: Browser): Promise<void> {
  const app = publishing(join(work, 'posts.sqlite'), {
    model: async (prompt) => `${prompt}, in three lines`,
    publish: async () => 'https://example.org/green-tea',
    announce: async () => undefined,
  });
  await app.run('post-42', { topic: 'green tea' });
  const { page, origin, close } = await openPage(browser, { dir: work, file: 'posts.sqlite' });
  const url = `${origin}/#/runs/post-42`;
  await take(page, { url, name: 'own-graph', ready: '.picture .node', from: '.spending' });
  app.close();
  await close();
}

await unpackChromium();
await bundlePage(built);
const browser = await launchChromium();
try {
  await ofOwnGraph(browser);
  await ofPipeline(browser);
} finally {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
}
