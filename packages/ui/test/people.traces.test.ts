// openChromium: in a process of its own.
import { join } from 'node:path';
import { Orchestrator } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import { publishing } from '../../../examples/own-graph/publishing.ts';
import { startCluster } from '../../postgres/test/support/startCluster.ts';
import { openShop, test, waitingRun } from './support/fixtures.ts';
import { type Reader, readers } from './support/pages.ts';
import { seriousOn } from './support/seriousOn.ts';

const asReader = readers();

/** What the bar of a gate says once it is closed. */
const closedBy = (page: Page, id: string) => page.getByText(`This gate is closed: decided by human:${id}`);

/** What whoever has decided a gate is shown. */
const decided = (page: Page) => page.locator('h1', { hasText: 'You approved' });

/** A run of the example at its gate: what drives it, and what it published. */
async function waitingPost(dir: string) {
  const published: string[] = [];
  const app = publishing(join(dir, 'posts.sqlite'), {
    model: async (prompt) => prompt,
    publish: async (post) => {
      published.push(post);
      return 'https://example.org/tea';
    },
    announce: async () => undefined,
  });
  onTestFinished(() => app.close());
  await app.run('post-42', { topic: 'green tea' });
  return { app, published };
}

/** Ben reads the gate of a run, and hears of nothing that becomes of it until he is let. */
async function notHearing(dir: string) {
  const run = await waitingRun(dir);
  const [gate] = await run.gates();
  const ben = await asReader({ dir, id: 'ben', at: `/runs/shop/gates/${gate?.sessionId}` });
  await ben.page.locator('#approve').waitFor();
  const hear = await ben.deafen();
  await ben.page.reload();
  await ben.page.locator('#approve').waitFor();
  return { run, gate, ben, hear };
}

describe('people in Chromium', () => {
  test('a graph of one’s own: from the inbox to what it publishes, by keyboard alone', async ({ dir }) => {
    const { app, published } = await waitingPost(dir);
    const { page, complaints } = await asReader({ dir, file: 'posts.sqlite', id: 'ada' });
    await page.locator('main a.item', { hasText: 'post-42' }).first().waitFor();
    expect(await page.title()).toBe('(1) Inbox · devs');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.locator('#approve').waitFor();
    await expect.poll(() => page.locator('main').textContent()).toContain('green tea');
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await decided(page).waitFor();
    expect(published).toEqual([]);
    await app.run('post-42');
    expect(published).toHaveLength(1);
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.getByText('Nothing waits for you').waitFor();
    await page.locator('main a.item .status.completed').waitFor();
    expect(await page.title()).toBe('Inbox · devs');
    expect(complaints).toEqual([]);
  });

  test('a run of a cluster: decided on the page, seen on another one, and driven on by a worker', async () => {
    const cluster = await startCluster();
    onTestFinished(() => cluster.stop());
    const working = { workspace: new MemoryWorkspace(), checks: scriptedChecks() };
    const worker = await Orchestrator.open({ runs: cluster.runs(), agents: fakeAgents(), ...working });
    const run = await worker.start({ id: 'shop', brief: '# Shop\n\nSell things.\n' });
    await run.resume();
    const ada = await asReader({ runs: cluster.runs(), id: 'ada' });
    const ben = await asReader({ runs: cluster.runs(), id: 'ben', at: '/runs/shop' });
    await ben.page.locator('main .now', { hasText: 'Design' }).first().waitFor();
    await ada.page.locator('main a.item', { hasText: 'Design' }).first().click();
    await ada.page.locator('#approve').click();
    await decided(ada.page).waitFor();
    expect(await run.gates()).toEqual([]);
    await run.resume();
    // The next question comes to both by itself.
    await ben.page.locator('main .now', { hasText: 'Plan' }).first().waitFor();
    await ada.page.keyboard.press('g');
    await ada.page.keyboard.press('i');
    await ada.page.locator('main a.item', { hasText: 'Plan' }).first().waitFor();
    expect((await run.closedGates())[0]).toMatchObject({ principal: 'human:ada', via: 'page' });
    expect([...ada.complaints, ...ben.complaints]).toEqual([]);
    worker.close();
  });

  test('two approve one gate at the same moment: one has, and both pages name them', async ({ dir }) => {
    const run = await waitingRun(dir);
    const [gate] = await run.gates();
    const at = `/runs/shop/gates/${gate?.sessionId}`;
    const all = [await asReader({ dir, id: 'ada', at }), await asReader({ dir, id: 'ben', at })];
    for (const { page } of all) await page.locator('#approve').waitFor();
    // Not Playwright's click, which waits for a button that the other one's decision may have taken away.
    const press = (page: Page) => page.evaluate("document.querySelector('#approve')?.click()");
    await Promise.all(all.map(({ page }) => press(page)));
    const isOver = (page: Page) => decided(page).or(page.getByText('This gate is closed'));
    for (const { page } of all) await isOver(page).waitFor();
    const closed = await run.closedGates();
    expect(closed).toMatchObject([{ status: 'decided', decision: { approved: true }, via: 'page' }]);
    const winner = closed[0]?.principal?.replace('human:', '') ?? '';
    expect(['ada', 'ben']).toContain(winner);
    const [own, other] = winner === 'ada' ? all : all.toReversed();
    await decided((own as Reader).page).waitFor();
    await closedBy((other as Reader).page, winner).waitFor();
  });

  test('who has not seen that it was decided is told by whom, and agrees once they hear of it', async ({
    dir,
  }) => {
    const { run, gate, ben, hear } = await notHearing(dir);
    await run.decide(gate as never, { approved: true, by: { kind: 'human', id: 'ada' } });
    await ben.page.locator('#approve').click();
    const problem = ben.page.locator('.decide .problem');
    await problem.waitFor();
    await expect.poll(() => problem.textContent()).toMatch(/ada.*GATE_ALREADY_DECIDED/s);
    await hear();
    await closedBy(ben.page, 'ada').waitFor();
  });

  test('a gate that was edited meanwhile is not approved with what was read', async ({ dir }) => {
    const { run, gate, ben, hear } = await notHearing(dir);
    const { documents } = (gate?.artifact ?? {}) as {
      readonly documents: readonly Record<'type' | 'title' | 'content', string>[];
    };
    const edited = documents.map(({ type, title, content }) => ({
      type,
      title,
      content: `${content}\nA clause.`,
    }));
    await run.decide(gate as never, { action: 'edit', documents: edited, by: { kind: 'human', id: 'ada' } });
    await run.resume();
    await ben.page.locator('#approve').click();
    await ben.page.locator('.decide .problem').waitFor();
    await expect.poll(() => ben.page.locator('.decide .problem').textContent()).toMatch(/GATE_[A-Z_]+/);
    const [now] = await run.gates();
    expect(now?.artifactHash).not.toBe(gate?.artifactHash);
    expect((await run.closedGates()).filter(({ principal }) => principal === 'human:ben')).toEqual([]);
    await hear();
    await ben.page.getByText('This gate is closed').waitFor();
    await ben.page.getByText('Open the current gate').click();
    await ben.page.getByText('A clause.').first().waitFor();
    await expect
      .poll(() => ben.page.locator('.decide .seal code').getAttribute('title'))
      .toBe(now?.artifactHash);
  });

  test('axe finds nothing serious on a list, a run or an error, light or dark', async ({ dir }) => {
    const devs = await openShop(dir);
    const gates = { design: 'auto', dag: 'auto' } as const;
    const run = await devs.start({ id: 'shop', brief: '# Shop\n\nSell things.\n', gates, review: 'task' });
    await run.resume();
    const { page } = await asReader({ dir, id: 'ada' });
    await page.locator('main a.item').first().waitFor();
    expect(await seriousOn(page), 'inbox').toEqual([]);
    const { origin } = new URL(page.url());
    await page.goto(`${origin}/#/runs/${run.id}`);
    await page.locator('.picture .node').first().waitFor();
    // Its task is the one of the open review.
    await expect
      .poll(() => page.locator('.picture .node.waits').getAttribute('aria-label'))
      .toContain('waits for a person');
    expect(await seriousOn(page), 'run').toEqual([]);
    await page.goto(`${origin}/#/runs/nothing`);
    await page.getByText('THREAD_NOT_FOUND').waitFor();
    expect(await seriousOn(page), 'error').toEqual([]);
  });

  test('axe finds nothing serious on the keys, the form of a new run and a graph of one’s own, light or dark', async ({
    dir,
  }) => {
    const { app } = await waitingPost(dir);
    const [gate] = await app.gates('post-42');
    const driving = { drive: true, driving: async () => undefined, starting: async () => 'post-43' };
    const { page } = await asReader({ dir, file: 'posts.sqlite', id: 'ada', ...driving });
    await page.locator('main a.item').first().waitFor();
    await page.keyboard.press('?');
    await page.locator('#keys:popover-open').waitFor();
    expect(await seriousOn(page), 'keys').toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByText('New run from a brief').click();
    await page.locator('#brief').waitFor();
    expect(await seriousOn(page), 'a new run').toEqual([]);
    const { origin } = new URL(page.url());
    await page.goto(`${origin}/#/runs/post-42/gates/${gate?.sessionId}`);
    await page.locator('#approve').waitFor();
    expect(await seriousOn(page), 'its gate').toEqual([]);
    await page.goto(`${origin}/#/runs/post-42`);
    await page.locator('.picture .node').first().waitFor();
    expect(await seriousOn(page), 'its run').toEqual([]);
  });

  test.for([
    ['Design', {}],
    ['Plan', { design: 'auto' }],
    ['Code', { design: 'auto', dag: 'auto' }],
  ] as const)('axe finds nothing serious at a gate, light or dark: %s', async ([about, gates], { dir }) => {
    const devs = await openShop(dir);
    const run = await devs.start({ id: 'shop', brief: '# Shop\n\nSell things.\n', gates, review: 'task' });
    await run.resume();
    const [gate] = await run.gates();
    const driving = { drive: true, driving: async () => undefined };
    const at = `/runs/shop/gates/${gate?.sessionId}`;
    const { page } = await asReader({ dir, id: 'ada', at, ...driving });
    await page.locator('.head .chip', { hasText: about }).first().waitFor();
    await page.locator('#approve').waitFor();
    expect(await seriousOn(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('button', { name: 'More' }).click();
    await page.locator('#more:popover-open').waitFor();
    expect(await seriousOn(page), 'with the menu of a phone').toEqual([]);
    await expect.poll(() => page.locator('#more:popover-open').count()).toBe(1);
  });
});
