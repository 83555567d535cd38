// `pnpm bench:ui [--quick] [--only diffs]`: what the page weighs, and how long a person waits for it, in a real Chromium beside this process. Times
// by the clock, medians; each with the longest task of the browser. See docs/internals/benchmarks.md. Ends with code 1 where a target is missed.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Orchestrator } from '@devs/core';
import { createDatabase } from '@devs/core/state';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { median, round, table } from '../../core/bench/state/figures.ts';
import { tablesOf } from '../../core/test/support/insides.ts';
// @ts-expect-error: a script of the build
import { bundlePage } from '../page/bundlePage.mjs';
import { fillWithRuns } from '../test/support/fillWithRuns.ts';
import { launchChromium, unpackChromium } from '../test/support/launchChromium.ts';
import { type Served, servePage } from '../test/support/servePage.ts';

const isQuick = process.argv.includes('--quick');
/** The part that is measured; every one without it. */
const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : undefined;
const ROUNDS = isQuick ? 3 : 9;

const work = mkdtempSync(join(process.env['DEVS_BENCH_DIR'] ?? tmpdir(), 'devs-bench-ui-'));
const built = join(work, 'page');
const { files } = (await bundlePage(built)) as {
  readonly files: readonly { readonly contents: Uint8Array; readonly isLater: boolean }[];
};
await unpackChromium();
const browser = await launchChromium();

interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly target: number;
}
const figures: Figure[] = [];
const found = (what: string, value: number, unit: string, target: number): number =>
  figures.push({ what, value: round(value, 1), unit, target });

/** A page, signed in, of the runs at a place; counts the browser's long tasks. */
async function openPage(at: Served) {
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  await page.addInitScript(`
    globalThis.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration);
    }).observe({ entryTypes: ['longtask'] });
  `);
  const served = await servePage(page, at, built);
  const close = async (): Promise<void> => {
    await page.close();
    await served.close();
  };
  return { page, close };
}

type Page = Awaited<ReturnType<typeof openPage>>['page'];

/** From another screen to this one: ms until `ready` is there and painted, and the longest task meanwhile, ms. */
async function goTo(page: Page, hash: string, ready: string): Promise<{ ms: number; longest: number }> {
  await page.evaluate("location.hash = '#/runs/nothing'");
  await page.locator('.problem').waitFor();
  return (await page.evaluate(`new Promise((resolve) => {
    globalThis.longest = 0;
    const from = performance.now();
    const look = () => {
      if (document.querySelector(${JSON.stringify(ready)}) === null) return requestAnimationFrame(look);
      requestAnimationFrame(() => setTimeout(() =>
        resolve({ ms: performance.now() - from, longest: globalThis.longest })));
    };
    location.hash = ${JSON.stringify(hash)};
    look();
  })`)) as { ms: number; longest: number };
}

/** Medians of some rounds. */
async function timed(page: Page, hash: string, ready: string): Promise<{ ms: number; longest: number }> {
  const all: { ms: number; longest: number }[] = [];
  for (let round_ = 0; round_ < ROUNDS; round_ += 1) all.push(await goTo(page, hash, ready));
  return { ms: median(all.map(({ ms }) => ms)), longest: Math.max(...all.map(({ longest }) => longest)) };
}

function folder(name: string): string {
  return mkdtempSync(join(work, `${name}-`));
}

async function inbox(): Promise<void> {
  const dir = folder('inbox');
  fillWithRuns(dir, { runs: isQuick ? 1000 : 10_000, waitsEvery: 10 });
  const { page, close } = await openPage({ dir });
  const { ms } = await timed(page, '#/', 'main .group a.item');
  found(`inbox over ${isQuick ? '1,000' : '10,000'} runs, a tenth of them waiting`, ms, 'ms', 300);
  await close();
}

async function waiting(): Promise<void> {
  const dir = folder('waiting');
  const runs = isQuick ? 1000 : 10_000;
  fillWithRuns(dir, { runs, waitsEvery: 1 });
  const { page, close } = await openPage({ dir });
  const { ms } = await timed(page, '#/', 'main .group a.item');
  found(`inbox over ${isQuick ? '1,000' : '10,000'} waiting gates`, ms, 'ms', 300);
  await close();
}

/** Files of a diff, of so many lines each. */
const diffOf = (count: number, lines: number): string =>
  Array.from({ length: count }, (_, file) => {
    const head = `diff --git a/src/f${file}.ts b/src/f${file}.ts\n--- a/src/f${file}.ts\n+++ b/src/f${file}.ts\n`;
    const body = Array.from({ length: lines }, (_, n) => `+const v${n} = value(${n}, 'of file ${file}');`);
    return `${head}@@ -0,0 +1,${lines} @@\n${body.join('\n')}\n`;
  }).join('');

async function shop(dir: string, tasks: number, until?: 'dag') {
  const devs = await Orchestrator.open({
    dir,
    agents: fakeAgents({ tasks }),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  const gates = { design: 'auto', dag: 'auto' } as const;
  const run = await devs.start({ id: 'shop', brief: '# Shop', gates, review: until ? 'none' : 'task' });
  await run.resume(until ? { until } : {});
  return { devs, run };
}

async function diffs(): Promise<void> {
  const dir = folder('diffs');
  const { devs, run } = await shop(dir, 1);
  const [gate] = await run.gates();
  const hash = `#/runs/shop/gates/${gate?.sessionId}`;
  const open = (diff: string) => openPage({ dir, readCode: async () => ({ diff, unshown: [] }) });
  const small = await open(diffOf(10, 200));
  const { ms } = await timed(small.page, hash, '.diff tr');
  found('a diff of 2,000 lines in 10 files, until it is there and the browser is idle', ms, 'ms', 300);
  await small.close();
  const large = await open(diffOf(54, 1000));
  const { longest } = await timed(large.page, hash, '.file .fh');
  found('the longest task of the browser at a diff of 54,000 lines, folded', longest, 'ms', 200);
  await large.close();
  devs.close();
}

async function largeRun(): Promise<void> {
  const dir = folder('run');
  const { devs } = await shop(dir, isQuick ? 30 : 300, 'dag');
  devs.close();
  const db = createDatabase({ dbPath: join(dir, 'state.sqlite'), synchronous: 'normal' });
  const { events } = tablesOf(db);
  db.transaction(() => {
    for (let n = 0; n < 10_000; n += 1)
      events.append('NODE_STARTED', { node: 'implement', attempt: 1 }, { threadId: 'shop' });
  }).immediate();
  db.close();
  const { page, close } = await openPage({ dir });
  const { ms } = await timed(page, '#/runs/shop', '.picture .node');
  found(`a run of ${isQuick ? 30 : 300} tasks with 10,000 events, with its plan as a picture`, ms, 'ms', 500);
  await close();
}

async function largePlan(): Promise<void> {
  const dir = folder('plan');
  const tasks = isQuick ? 30 : 300;
  const devs = await Orchestrator.open({
    dir,
    agents: fakeAgents({ tasks }),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  const run = await devs.start({ id: 'shop', brief: '# Shop', gates: { design: 'auto' } });
  await run.resume();
  const [gate] = await run.gates();
  devs.close();
  const { page, close } = await openPage({ dir });
  const { ms } = await timed(page, `#/runs/shop/gates/${gate?.sessionId}`, '.picture .node');
  found(`a plan of ${tasks} tasks at its gate, with its picture`, ms, 'ms', 1000);
  await close();
}

/** Two pages look on while somebody writes: how late they are told, and how far the write-ahead log grows. */
async function live(): Promise<void> {
  const dir = folder('live');
  const { devs, run } = await shop(dir, 1);
  const { page, close } = await openPage({ dir });
  const other = await openPage({ dir });
  const late: number[] = [];
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    const id = `new-${turn}`;
    await devs.start({ id, brief: `# New ${turn}` });
    const from = performance.now();
    await page.locator(`a.item[href="#/runs/${id}"]`).waitFor();
    late.push(performance.now() - from);
  }
  found(
    'from a commit of another connection to its row on the page, the slowest',
    Math.max(...late),
    'ms',
    1000,
  );

  const db = createDatabase({ dbPath: join(dir, 'state.sqlite') });
  const { events } = tablesOf(db);
  const piece = 'What is told. '.repeat(7000);
  let largest = 0;
  for (let n = 0; n < (isQuick ? 200 : 2000); n += 1) {
    events.append('NODE_STARTED', { node: piece, attempt: n }, { threadId: run.id });
    largest = Math.max(largest, statSync(join(dir, `state.sqlite-wal`)).size);
    if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  db.close();
  found('the write-ahead log through 200 MB of commits with two pages open', largest / 1e6, 'MB', 16);
  await close();
  await other.close();
  devs.close();
}

try {
  const bytes = files
    .filter(({ isLater }) => !isLater)
    .reduce((sum, { contents }) => sum + gzipSync(contents).length, 0);
  found('the page, compressed, without the languages of code', bytes / 1024, 'KiB', 150);
  for (const part of [inbox, waiting, diffs, largePlan, largeRun, live]) {
    if (only !== undefined && part.name !== only) continue;
    process.stderr.write(`${part.name} …\n`);
    await part();
  }
} finally {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
}

const rows = figures.map(({ what, value, unit, target }) => [
  what,
  `${value} ${unit}`,
  `≤ ${target} ${unit}`,
]);
process.stdout.write(`${table(['', 'measured', 'wanted'], rows)}\n`);
process.exitCode = figures.every(({ value, target }) => value <= target) ? 0 : 1;
