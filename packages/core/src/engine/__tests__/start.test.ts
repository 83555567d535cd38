import { START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { durable } from '../app/durable.ts';
import { OwnState, twoSteps } from './ownGraph.ts';

describe('a run that is started', () => {
  test('is recorded with what it was given, and driven by whoever has its id', async ({ db }) => {
    const seen: unknown[] = [];
    const builder = new StateGraph(OwnState)
      .addNode('first', (_state, { context }) => {
        seen.push(context);
        return { log: ['first'] };
      })
      .addEdge(START, 'first');
    const app = durable(builder, { db });
    await app.start('run', { log: ['in'] }, { context: { tenant: 'acme' } });
    expect(seen).toEqual([]);
    expect((await app.list({ due: true })).runs).toMatchObject([{ id: 'run', status: 'created' }]);
    expect(await app.run('run')).toMatchObject({ values: { log: ['in', 'first'] } });
    expect(seen).toEqual([{ tenant: 'acme' }]);
  });

  test('again with the same is the same run, with anything else refused', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await app.start('run', { log: ['in'] });
    await app.start('run', { log: ['in'] });
    await app.run('run');
    await app.start('run', { log: ['in'] }); // also once it has ended
    await expect(app.start('run', { log: ['other'] })).rejects.toMatchObject({ code: 'INPUT_NOT_TAKEN' });
    await expect(app.start('none')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    expect((await app.values('run'))?.log).toEqual(['in', 'first', 'second']);
  });

  test('in a turn begins it, once', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    for (const turn of ['m-1', 'm-2']) {
      await app.start('run', { log: [turn] }, { turn });
      await app.start('run', { log: [turn] }, { turn });
      await app.run('run');
    }
    expect((await app.values('run'))?.log).toEqual(['m-1', 'first', 'second', 'm-2', 'first', 'second']);
  });

  test('by its id alone goes on for a worker, once it was paused or has failed', async ({ db }) => {
    let isBroken = true;
    const builder = new StateGraph(OwnState)
      .addNode('first', () => {
        if (isBroken) throw new Error('broken');
        return { log: ['first'] };
      })
      .addEdge(START, 'first');
    const app = durable(builder, { db });
    await app.run('run', { log: ['in'] }, { turn: 'm-1', throwOnFailure: false });
    expect((await app.list({ due: true })).runs).toEqual([]);
    await app.start('run');
    expect((await app.list({ due: true })).runs).toMatchObject([{ id: 'run', status: 'paused' }]);
    isBroken = false;
    expect((await app.runDue()).driven).toMatchObject([{ id: 'run', status: 'completed' }]);
    await app.start('run'); // a run that has ended stays as it is
    expect((await app.list({ due: true })).runs).toEqual([]);
  });
});
