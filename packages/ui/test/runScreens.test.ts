import { isDevsError, type Run } from '@devs/core';
import { durable } from '@devs/core/langgraph';
import { fakeAgents } from '@devs/core/testing';
import { Annotation, StateGraph } from '@langchain/langgraph';
import { describe, expect, onTestFinished } from 'vitest';
import { createUi, type UiOptions } from '../src/createUi.ts';
import type { GateView } from '../src/views/gateView.ts';
import type { InboxView } from '../src/views/inboxView.ts';
import type { LogView } from '../src/views/logView.ts';
import type { RewindAnswer } from '../src/views/rewindView.ts';
import type { RunView } from '../src/views/runView.ts';
import type { TimelineView } from '../src/views/timelineView.ts';
import type { ValuesView } from '../src/views/valuesView.ts';
import { ADA, openShop, test } from './support/fixtures.ts';

type GraphView = Awaited<ReturnType<Run['graph']>>;
type CheckpointView = Awaited<ReturnType<Run['checkpoints']>>[number];

const HOST = 'inbox.example.org';

function mounted(dir: string, options: Partial<UiOptions> = {}) {
  const ui = createUi({ dir, hosts: [HOST], identify: () => ADA, ...options });
  const headers = {
    origin: `https://${HOST}`,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
  };
  const ask = async <View>(path: string, init: RequestInit = {}): Promise<View> =>
    (await (await ui(new Request(`https://${HOST}/api/${path}`, { headers, ...init }))).json()) as View;
  const rewind = (wish: object) =>
    ask<RewindAnswer & { readonly error?: { readonly code: string } }>('runs/shop/rewind', {
      method: 'POST',
      body: JSON.stringify(wish),
    });
  return { ask, rewind };
}

/** A run of two tasks, one on top of the other, to its end. */
async function finishedRun(dir: string): Promise<Run> {
  const devs = await openShop(dir, fakeAgents({ tasks: 2 }));
  const brief = '# Shop\n\nSell things.\n';
  const run = await devs.start({ id: 'shop', brief, gates: { design: 'auto', dag: 'auto' } });
  await run.resume();
  return run;
}

describe('the screens of a run', () => {
  test('show the figures of its status, its plan, and what took time', async ({ dir }) => {
    const run = await finishedRun(dir);
    const { gates: _gates, tasks, ...status } = await run.status();
    const { ask } = mounted(dir);
    const shown = await ask<RunView>('runs/shop');
    expect(shown).toMatchObject(JSON.parse(JSON.stringify(status)) as object);
    expect(shown.tasks).toMatchObject(tasks);
    expect(shown.tasks.map(({ label, dependsOn }) => [label, dependsOn])).toEqual([
      ['T1', []],
      ['T2', [tasks[0]?.taskId]],
    ]);
    for (const parts of [shown.spending.stages, shown.spending.tasks]) {
      const sum = (figure: 'calls' | 'unpriced' | 'tokensIn' | 'tokensOut' | 'costUsd') =>
        parts.reduce((all, { cost }) => all + cost[figure], 0);
      for (const figure of ['calls', 'unpriced', 'tokensIn', 'tokensOut'] as const) {
        expect(sum(figure), figure).toBe(status.cost[figure]);
      }
      expect(sum('costUsd')).toBeCloseTo(status.cost.costUsd);
    }
    const { timeline } = await ask<{ timeline: TimelineView }>('runs/shop/timeline');
    expect(timeline.rows.map(({ label }) => label)).toEqual(['run', 'T1', 'T2']);
    const steps = await run.steps();
    expect(timeline.rows.flatMap(({ bars }) => bars)).toHaveLength(steps.length);
  });

  test('show the end of the log, and what is before it on being asked', async ({ dir }) => {
    const run = await finishedRun(dir);
    const all = await run.log({ limit: 10_000 });
    const { ask } = mounted(dir);
    const { entries, earlier } = await ask<LogView>('runs/shop/log');
    expect(entries.at(-1)?.seq).toBe(all.at(-1)?.seq);
    expect(earlier).toBeNull();
    const before = await ask<LogView>(`runs/shop/log?before=${entries[10]?.seq}`);
    expect(before.entries.map(({ seq }) => seq)).toEqual(all.slice(0, 10).map(({ seq }) => seq));
    const ofTask = await ask<LogView>('runs/shop/log?task=T2&kind=tasks');
    expect(ofTask.entries.map(({ name }) => name)).toEqual(['TASK_COMPLETED']);
    for (const query of ['before=x', 'kind=all', 'no=1', 'before=0']) {
      expect(await ask(`runs/shop/log?${query}`)).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
    }
  });

  test('show what a commit of a task has changed, and no other commit', async ({ dir }) => {
    const run = await finishedRun(dir);
    const { tasks } = await run.status();
    const read: string[] = [];
    const readCommit: UiOptions['readCommit'] = async (id, commit) => {
      read.push(`${id} ${commit}`);
      return { diff: '+ pay \u202Eeve', unshown: ['logo.png'] };
    };
    const { ask } = mounted(dir, { readCommit });
    const commit = tasks[0]?.gitHash ?? '';
    expect(await ask(`runs/shop/commits/${commit}`)).toEqual({
      code: { diff: '+ pay ⟨U+202E⟩eve', unshown: ['logo.png'] },
    });
    expect(await ask('runs/shop/commits/HEAD')).toMatchObject({ error: { code: 'COMMIT_NOT_FOUND' } });
    expect(read).toEqual([`shop ${commit}`]);
    expect(await mounted(dir).ask(`runs/shop/commits/${commit}`)).toEqual({ code: null });
  });

  test('set it back once a person has seen what is undone, and take that back', async ({ dir }) => {
    const run = await finishedRun(dir);
    const { ask, rewind } = mounted(dir, { rewinding: async (_id, work) => work(run) });
    const { plan, done } = await rewind({ way: 'preview', task: 'T1' });
    expect(plan).toMatchObject({ target: { label: 'T1' }, undone: [{ label: 'T2' }] });
    expect(done).toBeNull();
    expect((await run.status()).rewinds).toEqual([]);

    const other = await rewind({ way: 'back', task: 'T1', undone: ['T2', 'T3'] });
    expect(other.error).toMatchObject({ code: 'REWIND_MOVED' });
    const byOther = await rewind({ way: 'back', task: 'T1', undone: ['T2'], by: 'human:eve' });
    expect(byOther.error).toMatchObject({ code: 'INVALID_REQUEST' });
    expect((await run.status()).rewinds).toEqual([]);

    const back = await rewind({ way: 'back', task: 'T1', undone: ['T2'], reason: 'It sells nothing.' });
    expect(back).toMatchObject({ plan: { undone: [{ label: 'T2' }] }, done: { kept: null } });
    const shown = await ask<RunView>('runs/shop');
    expect(shown.rewinds).toMatchObject([
      { target: 'T1', undone: ['T2'], principal: 'human:ada', reason: 'It sells nothing.', state: 'done' },
    ]);
    expect(shown.tasks.map(({ status }) => status)).toEqual(['completed', 'pending']);
    expect(await rewind({ way: 'preview', task: 'T1' })).toEqual({ plan: null, done: null });
    expect(await rewind({ way: 'back', task: 'T1', undone: [] })).toEqual({ plan: null, done: null });

    expect(await rewind({ way: 'undo' })).toMatchObject({ plan: null, done: { kept: null } });
    expect((await run.status()).status).toBe('completed');
    expect((await rewind({ way: 'undo' })).error).toMatchObject({ code: 'REWIND_REFUSED' });
    expect((await rewind({ way: 'preview', task: 'T9' })).error).toMatchObject({ code: 'REWIND_REFUSED' });
  });

  test('set back nothing where the page has not what the run was started with, or only reads', async ({
    dir,
  }) => {
    const run = await finishedRun(dir);
    const { rewind } = mounted(dir);
    expect((await rewind({ way: 'preview', task: 'T1' })).error).toMatchObject({ code: 'CONFIG_INVALID' });
    const reader = mounted(dir, { readOnly: true, rewinding: async (_id, work) => work(run) });
    for (const way of [{ way: 'preview', task: 'T1' }, { way: 'undo' }]) {
      expect((await reader.rewind(way)).error).toMatchObject({ code: 'READ_ONLY' });
    }
    await expect(run.rewind('T9', { by: ADA })).rejects.toSatisfy((error) => isDevsError(error));
  });
});

describe('the screens of a graph of one’s own', () => {
  const builder = () =>
    new StateGraph(Annotation.Root({ topic: Annotation<string>, tasks: Annotation<string[]> }))
      .addNode('plan', ({ topic }) => ({ tasks: [`${topic} \u202Eeno`, 'password=Tr0ub4dor-and-3'] }))
      .addNode('publish', () => ({}))
      .addEdge('__start__', 'plan')
      .addEdge('plan', 'publish')
      .addEdge('publish', '__end__');

  test('have its graph, its gate and its values, whatever its channels are called', async ({ dir }) => {
    const file = `${dir}/posts.sqlite`;
    const app = durable(builder(), { file, gates: { publish: ({ tasks }) => tasks } });
    onTestFinished(() => app.close());
    await app.run('post', { topic: 'tea' });
    const { ask } = mounted(dir, { file: 'posts.sqlite' });

    const { gates, runs } = await ask<InboxView>('inbox');
    expect(runs).toMatchObject([{ id: 'post', tasks: { total: 0 } }]);
    expect(await ask<RunView>('runs/post')).toMatchObject({ tasks: [], gates: [{ kind: 'node_gate' }] });
    const gate = await ask<GateView>(`runs/post/gates/${gates[0]?.sessionId}`);
    expect(gate).toMatchObject({ evidence: null, isOpen: true });

    const graph = await ask<GraphView>('runs/post/graph');
    expect(graph).toMatchObject({
      edges: [
        { from: null, to: 'plan' },
        { from: 'plan', to: 'publish' },
      ],
      next: ['publish'],
      running: null,
    });
    const { checkpoints, earlier } = await ask<{ checkpoints: CheckpointView[]; earlier: null }>(
      'runs/post/checkpoints',
    );
    expect(checkpoints.map(({ changed }) => changed)).toEqual([['tasks'], ['topic'], []]);
    expect(earlier).toBeNull();
    const { values } = await ask<ValuesView>(`runs/post/checkpoints/${checkpoints[0]?.checkpointId}`);
    expect(values.map(({ name, isChanged }) => [name, isChanged])).toEqual([
      ['tasks', true],
      ['topic', false],
    ]);
    expect(values[0]?.text).toContain('⟨U+202E⟩eno');
    expect(values[0]?.text).not.toContain('Tr0ub4dor');
    expect(await ask('runs/post/checkpoints/none')).toMatchObject({
      error: { code: 'CHECKPOINT_NOT_FOUND' },
    });
  });
});
