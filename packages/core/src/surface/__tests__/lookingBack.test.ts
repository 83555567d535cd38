import path from 'node:path';
import { Annotation, Send, StateGraph } from '@langchain/langgraph';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { durable } from '../../engine/app/durable.ts';
import { step } from '../../engine/node/step.ts';
import { Orchestrator } from '../Orchestrator.ts';

const ada = { kind: 'human', id: 'ada' } as const;

/** Goes through `write` again and again, `rounds` times; then a human is asked. */
const builder = (rounds: number) =>
  new StateGraph(
    Annotation.Root({ topic: Annotation<string>, drafts: Annotation<string[]>, seen: Annotation<Date> }),
  )
    .addNode('write', async ({ topic, drafts = [] }) => ({
      drafts: [
        ...drafts,
        await step('llm', async ({ usage }) => {
          usage({ tokensIn: 10, tokensOut: 5, costUsd: 0.25 });
          return `${topic} ${drafts.length}`;
        }),
      ],
    }))
    .addNode('read', () => ({ seen: new Date(0) }))
    .addNode('publish', () => ({}))
    .addNode('tell', () => ({}))
    .addEdge('__start__', 'write')
    .addConditionalEdges('write', ({ drafts }) => (drafts.length < rounds ? 'write' : 'read'))
    .addEdge('read', 'publish')
    .addConditionalEdges('publish', () => [new Send('tell', {})], ['tell'])
    .addEdge('tell', '__end__');

async function written(dbPath: string, rounds = 2) {
  const app = durable(builder(rounds), { file: dbPath, gates: { publish: ({ drafts }) => drafts } });
  onTestFinished(() => app.close());
  await app.run('post', { topic: 'tea' });
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    file: path.basename(dbPath),
    readOnly: true,
  });
  onTestFinished(() => devs.close());
  return { app, run: await devs.run('post') };
}

describe('looking back at a run', () => {
  test('its graph is in its file: nodes, the ways that were gone, visits, and what is next', async ({
    dbPath,
  }) => {
    const { app, run } = await written(dbPath);
    const before = await run.graph();
    expect(before.next).toEqual(['publish']);
    expect(before.edges).toEqual([
      { from: null, to: 'write', times: 1 },
      { from: 'read', to: 'publish', times: 1 },
      { from: 'write', to: 'read', times: 1 },
      { from: 'write', to: 'write', times: 1 },
    ]);
    expect(before.nodes.map(({ name, gate, visits }) => [name, gate, visits])).toEqual([
      ['publish', 'node_gate', 0],
      ['read', null, 1],
      ['tell', null, 0],
      ['write', null, 2],
    ]);
    await app.decide(only(await app.gates('post')), { approved: true, by: ada });
    await app.run('post');
    const { nodes, next } = await run.graph();
    expect(next).toEqual([]);
    expect(nodes.every(({ visits, lastAt }) => visits > 0 && lastAt !== null)).toBe(true);
  });

  test('each checkpoint says what was another value before, newest first, in pages', async ({ dbPath }) => {
    const { run } = await written(dbPath);
    const all = await run.checkpoints();
    expect(all.map(({ step: at, source, changed }) => [at, source, changed])).toEqual([
      [3, 'loop', ['seen']],
      [2, 'loop', ['drafts']],
      [1, 'loop', ['drafts']],
      [0, 'loop', ['topic']],
      [-1, 'input', []],
    ]);
    const first = await run.checkpoints({ limit: 2 });
    const rest = await run.checkpoints({ before: first.at(-1)?.checkpointId });
    expect([...first, ...rest]).toEqual(all);
    expect(await run.valuesAt(all[1]?.checkpointId ?? '')).toEqual({
      checkpointId: all[1]?.checkpointId,
      values: { topic: 'tea', drafts: ['tea 0', 'tea 1'] },
      before: { drafts: ['tea 0'] },
      changed: ['drafts'],
    });
    const { values } = await run.valuesAt(all[0]?.checkpointId ?? '');
    expect(values).toMatchObject({ seen: { date: '1970-01-01T00:00:00.000Z' } });
    expect(await run.valuesAt(all[4]?.checkpointId ?? '')).toMatchObject({ values: {}, changed: [] });
    await expect(run.valuesAt('none')).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
    await expect(run.checkpoints({ before: 'none' })).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
    await expect(run.checkpoints({ limit: 0 })).rejects.toThrow(RangeError);
  });

  test('its steps cost together what the run costs', async ({ dbPath }) => {
    const { run } = await written(dbPath, 3);
    const steps = await run.steps();
    expect(steps).toMatchObject(
      [1, 2, 3].map(() => ({ node: 'write', name: 'llm', task: null, state: 'done', attempt: 1 })),
    );
    expect(new Set(steps.map(({ visit }) => visit)).size).toBe(3);
    const { cost } = await run.status();
    expect(cost).toEqual({ tokensIn: 30, tokensOut: 15, costUsd: 0.75, calls: 3, requests: 3, unpriced: 0 });
    for (const name of ['tokensIn', 'tokensOut', 'costUsd', 'calls', 'requests', 'unpriced'] as const) {
      expect(
        steps.reduce((sum, each) => sum + each.cost[name], 0),
        name,
      ).toBe(cost[name]);
    }
  });

  test('the end of its log is read without its beginning', async ({ dbPath }) => {
    const { run } = await written(dbPath, 30);
    const all = await run.log();
    const newest = await run.log({ beforeSeq: Number.MAX_SAFE_INTEGER, limit: 10 });
    expect(newest).toEqual(all.slice(-10));
    const earlier = await run.log({ beforeSeq: newest[0]?.seq ?? 0, limit: 10 });
    expect(earlier).toEqual(all.slice(-20, -10));
    expect(await run.log({ afterSeq: earlier[4]?.seq ?? 0, beforeSeq: newest[0]?.seq ?? 0 })).toEqual(
      earlier.slice(5),
    );
  });
});
