// `pnpm screenshots [ofInbox|ofOwnGraph|ofPipeline]`: the pictures of README and docs, from real runs: the demo's recording, up
// to the review of its first task and on to its end; the example of an own graph; for the inbox, runs of scripted agents. Writes docs/images/*.png, and every screen at two widths, light
// and dark, to test-results/screenshots.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Orchestrator, type Run } from '@devs/core';
import type { UiOptions } from '@devs/ui';
// @ts-expect-error: a script of the build
import { bundlePage } from '../../ui/page/bundlePage.mjs';
import { launchChromium, unpackChromium } from '../../ui/test/support/launchChromium.ts';
import { type Served, servePage } from '../../ui/test/support/servePage.ts';
import { EXIT } from '../src/exitCodes.ts';
import { readShownDiff } from '../src/render/reviewDiff.ts';
import { fillInbox } from './inboxRuns.ts';
import { waitingPost } from './waitingPost.ts';

type Browser = Awaited<ReturnType<typeof launchChromium>>;
type Page = Awaited<ReturnType<Browser['newPage']>>;

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const IMAGES = join(ROOT, 'docs', 'images');
const EXAMPLE = join(ROOT, 'examples', 'slugify');
const SCREENS = join(ROOT, 'test-results', 'screenshots');
/** Of a desktop, which the docs show, and of a phone. */
const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
] as const;
const ADA = { kind: 'human', id: 'ada' } as const;

/** Names of the parts that are taken; all of them without one. */
const only = process.argv.slice(2);

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
  const page = await browser.newPage({ viewport: SIZES[0], colorScheme: 'light', reducedMotion: 'reduce' });
  page.setDefaultTimeout(0);
  return { page, ...(await servePage(page, at, built)) };
}

interface Shot {
  readonly url: string;
  readonly name: string;
  /** Waits for this element. */
  readonly ready: string;
}

async function take(page: Page, { url, name, ready }: Shot): Promise<void> {
  await page.goto(url);
  await page.locator(ready).first().waitFor();
  for (const size of SIZES) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const picture = await page.screenshot({
        path: join(SCREENS, `${name}-${size.width}-${colorScheme}.png`),
      });
      if (size === SIZES[0] && colorScheme === 'light') writeFileSync(join(IMAGES, `${name}.png`), picture);
    }
  }
  await page.setViewportSize(SIZES[0]);
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
  const driving = { drive: true, driving: async () => undefined };
  const { page, origin, close } = await openPage(browser, { dir: join(dir, '.devs'), readCode, ...driving });
  for (const shot of [
    { name: 'gate', ready: 'main article' },
    { name: 'plan', ready: 'main .card' },
    { name: 'code', ready: 'main .diff .k' },
  ]) {
    const [gate] = await run.gates();
    const url = `${origin}/#/runs/slugify/gates/${gate?.sessionId}`;
    await take(page, { url, ...shot });
    await approve(run);
    if (shot.name === 'code') await take(page, { url, name: 'answered', ready: '.ans .go' });
    devs('resume', 'slugify', '--dir', dir, '--no-ask', '--no-sandbox');
  }
  while ((await run.gates()).length > 0) {
    await approve(run);
    devs('resume', 'slugify', '--dir', dir, '--no-ask', '--no-sandbox');
  }
  await take(page, { url: `${origin}/#/runs/slugify`, name: 'timeline', ready: '.lane' });
  file.close();
  await close();
}

/** A morning's inbox: runs of each kind of waiting, one that stopped, one that runs. */
async function ofInbox(browser: Browser): Promise<void> {
  const dir = join(work, 'shop', '.devs');
  mkdirSync(dir, { recursive: true });
  const end = await fillInbox(dir);
  const driving = { drive: true, driving: async () => undefined };
  const { page, origin, close } = await openPage(browser, { dir, ...driving });
  await take(page, { url: `${origin}/#/`, name: 'inbox', ready: '.group' });
  await close();
  await end();
}

async function ofOwnGraph(browser: Browser): Promise<void> {
  const app = await waitingPost(join(work, 'posts.sqlite'));
  const { page, origin, close } = await openPage(browser, { dir: work, file: 'posts.sqlite' });
  const url = `${origin}/#/runs/post-42`;
  await take(page, { url, name: 'own-graph', ready: '.picture .node' });
  app.close();
  await close();
}

mkdirSync(SCREENS, { recursive: true });
await unpackChromium();
await bundlePage(built);
const browser = await launchChromium();
try {
  for (const part of [ofInbox, ofOwnGraph, ofPipeline]) {
    if (only.length === 0 || only.includes(part.name)) await part(browser);
  }
} finally {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
}
