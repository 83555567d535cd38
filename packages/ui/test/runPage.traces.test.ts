// openChromium: in a process of its own.
import type { PlanResult, Run } from '@devs/core';
import { durable } from '@devs/core/langgraph';
import { fakeAgents } from '@devs/core/testing';
import { Annotation, StateGraph } from '@langchain/langgraph';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished } from 'vitest';
import type { WithRewindable } from '../src/views/rewindView.ts';
import { openShop, test } from './support/fixtures.ts';
import { readers } from './support/pages.ts';

const NAME = '<img src=x onerror="document.title=\'ran\'"> \u202Eeman';

/** Agents whose plan has names that a browser must not run, and that a person must see. */
function hostileAgents() {
  const agents = fakeAgents({ tasks: 2 });
  const renamed = ({ epics, ...plan }: PlanResult): PlanResult => ({
    ...plan,
    epics: epics.map((epic) => ({
      ...epic,
      tasks: epic.tasks.map((task) => ({ ...task, name: `${NAME} ${task.name}` })),
    })),
  });
  return {
    ...agents,
    distill: async (...asked: Parameters<typeof agents.distill>) => renamed(await agents.distill(...asked)),
  };
}

const textOf = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).first().textContent()) ?? '';

/** A run of the pipeline that has come to its end. */
async function finishedRun(dir: string): Promise<Run> {
  const devs = await openShop(dir, hostileAgents());
  const gates = { design: 'auto', dag: 'auto' } as const;
  const run = await devs.start({ id: 'shop', brief: '# Shop\n\nSell things.\n', gates });
  await run.resume();
  return run;
}

describe('the screens of runs in Chromium', () => {
  const open = readers();

  test('a run: its plan as a picture, its figures, its timeline and its log', async ({ dir }) => {
    const run = await finishedRun(dir);
    const { page, complaints } = await open({ dir, id: 'ada', at: '/runs/shop' });
    await page.locator('.picture .node').nth(1).waitFor();
    const { tasks, cost, status } = await run.status();
    await expect.poll(() => page.locator('.picture .node.completed').count()).toBe(tasks.length);
    expect(await textOf(page, '.picture .node title')).toContain('<img src=x onerror');
    expect(await textOf(page, '.picture .node title')).toContain('⟨U+202E⟩eman');
    expect(await page.locator('img').count()).toBe(0);
    const figures = await textOf(page, '.figures');
    expect(figures).toContain(`${cost.calls} calls`);
    // The fakes report tokens and no price.
    expect(cost.unpriced).toBeGreaterThan(0);
    expect(figures).toContain(`no price known ${cost.unpriced} calls without a price`);
    expect(figures).toContain(`${cost.tokensIn.toLocaleString('en-US')} in`);
    expect(await textOf(page, '.head .status')).toBe(status);
    expect(await textOf(page, '.spending tfoot')).toContain(`all${cost.requests}`);
    await page.locator('.lane', { hasText: 'T2' }).locator('summary').click();
    await page.locator('.lane[open] li', { hasText: 'implement' }).first().waitFor();
    await expect.poll(() => page.locator('.bar.code').count()).toBeGreaterThanOrEqual(tasks.length);
    await expect
      .poll(() => page.locator('.commits li').allTextContents())
      .toEqual(
        tasks.toReversed().map(({ gitHash }) => expect.stringContaining(gitHash?.slice(0, 8) ?? 'none')),
      );
    await page.getByLabel('Kind of events').selectOption('tasks');
    await page.locator('.log li', { hasText: 'node started' }).first().waitFor({ state: 'detached' });
    await page.locator('.log li', { hasText: 'task completed' }).first().waitFor();
    expect(await page.title()).toBe('Shop · devs');
    expect(complaints).toEqual([]);
  });

  test('a run is set back by keyboard, to what its picture shows, and forth again', async ({ dir }) => {
    const run = await finishedRun(dir);
    const rewinding: WithRewindable = async (_id, work) => work(run);
    const { page, complaints } = await open({ dir, id: 'ada', at: '/runs/shop', rewinding });
    await page.locator('.picture .node').first().focus();
    await page.keyboard.press('Enter');
    await page.locator('.picture .node.goes').waitFor();
    await expect.poll(() => page.locator('.picture .node.target').count()).toBe(1);
    await page.getByRole('button', { name: 'Rewind the run to the end of T1' }).click();
    await page.getByText('rewound to the end of T1, undone: T2').waitFor();
    await page.locator('.picture .node.pending').waitFor();
    expect((await run.status()).rewinds).toMatchObject([{ target: 'T1', principal: 'human:ada' }]);
    await page.getByRole('button', { name: 'Undo the rewind' }).click();
    await page.getByText('rewind undone').first().waitFor();
    expect((await run.status()).status).toBe('completed');

    // The same by the list, then cancelled.
    await page.getByRole('radio', { name: /^End of T1/ }).check();
    await page.locator('.go-back .plan s', { hasText: 'T2' }).waitFor();
    await expect.poll(() => page.locator('.picture .node.goes').count()).toBe(1);
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.locator('.picture .node.goes').waitFor({ state: 'detached' });
    await page.getByText('Rewind the run to').waitFor({ state: 'detached' });
    expect((await run.status()).rewinds.map(({ state }) => state)).toEqual(['undone']);
    expect(complaints).toEqual([]);
  });

  test('a run is paused and then cancelled by keyboard, once it was said what that does', async ({ dir }) => {
    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const builder = new StateGraph(Annotation.Root({ topic: Annotation<string> }))
      .addNode('write', async () => held.then(() => ({})))
      .addNode('publish', () => ({}))
      .addEdge('__start__', 'write')
      .addEdge('write', 'publish');
    const app = durable(builder, { file: `${dir}/posts.sqlite` });
    onTestFinished(() => app.close());
    const driving = app.run('post', { topic: 'tea' });
    const { page, complaints } = await open({ dir, id: 'ada', at: '/runs/post', file: 'posts.sqlite' });
    await page.getByRole('button', { name: 'Stop now' }).waitFor();
    await page.getByRole('button', { name: /^Pause/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Asked to pause at its next safe point by human:ada').waitFor();
    await page.getByRole('button', { name: /^Pause/ }).waitFor({ state: 'detached' });
    letGo();
    expect(await driving).toMatchObject({ status: 'paused' });
    await page.getByText('The run is paused.').waitFor();
    expect(await page.getByRole('button', { name: 'Stop now' }).count()).toBe(0);

    // Off while the answer to the pause is on its way, and what is off takes no focus.
    const cancel = page.locator('#stop-cancel:enabled');
    await cancel.waitFor();
    await cancel.focus();
    await page.keyboard.press('Enter');
    await page.getByText('You cannot undo this').waitFor();
    await page.keyboard.press('Escape');
    await cancel.waitFor();
    await page.locator('#stop-cancel:focus').waitFor();
    expect((await app.get('post'))?.status).toBe('paused');
    await page.keyboard.press('Enter');
    await page.locator(':focus', { hasText: /^Keep the run$/ }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('The run is cancelled.').waitFor();
    expect(await page.locator('.stopping button').count()).toBe(0);
    expect((await app.get('post'))?.status).toBe('cancelled');
    expect(complaints).toEqual([]);
  });

  test('a graph of one’s own: what was visited, what is next, and the values of each checkpoint', async ({
    dir,
  }) => {
    const builder = new StateGraph(Annotation.Root({ topic: Annotation<string>, draft: Annotation<string> }))
      .addNode('write', ({ topic }) => ({ draft: `${NAME} ${topic}` }))
      .addNode('publish', () => ({}))
      .addEdge('__start__', 'write')
      .addEdge('write', 'publish');
    const file = `${dir}/posts.sqlite`;
    const app = durable(builder, { file, gates: { publish: ({ draft }) => draft } });
    onTestFinished(() => app.close());
    await app.run('post', { topic: 'tea' });
    const { page, complaints } = await open({ dir, id: 'ada', at: '/runs/post', file: 'posts.sqlite' });

    await page.locator('.node.next', { hasText: 'publish' }).waitFor();
    await expect.poll(() => page.locator('.node.visited', { hasText: 'write' }).count()).toBe(1);
    await page.locator('.checkpoints summary', { hasText: 'draft' }).click();
    const value = page.locator('.values dd').first();
    await value.waitFor();
    await expect.poll(() => value.textContent()).toContain('⟨U+202E⟩eman');
    expect(await page.locator('img').count()).toBe(0);

    // Decided by somebody else: the page is told by the file.
    const [gate] = await app.gates('post');
    if (gate !== undefined) await app.decide(gate, { approved: true, by: { kind: 'human', id: 'eve' } });
    await app.run('post');
    await page.locator('.node.visited', { hasText: 'publish' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
