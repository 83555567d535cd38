import { Annotation, END, MemorySaver, START, StateGraph, type StateSnapshot } from '@langchain/langgraph';
import { describe, expect, expectTypeOf } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { listOf } from '../../../../test/support/listOf.ts';
import { type Own, repeating, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import type { RunSnapshot } from '../../graph/EngineGraph.ts';

const ENGINES = /progressStep|pendingSuspension/;

/** What two runs of one graph have in common: not their ids and times. */
const comparable = ({ values, next, metadata }: StateSnapshot) => ({
  values: values as unknown,
  next,
  source: metadata?.source,
  step: metadata?.step,
});

describe('the state of a run and its history', () => {
  test('are what LangGraph tells of the graph alone', async ({ db }) => {
    const plain = twoSteps().compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: 'run' } };
    await plain.invoke({ log: ['input'] }, config);
    const app = durable(twoSteps(), { db });
    await app.run('run', { log: ['input'] });

    expect(comparable(await app.getState('run'))).toEqual(comparable(await plain.getState(config)));
    const history = await app.getStateHistory('run');
    expect(history.map(comparable)).toEqual((await listOf(plain.getStateHistory(config))).map(comparable));
    expect(Object.keys(history[0]?.config.configurable ?? {}).sort()).toEqual(
      Object.keys((await plain.getState(config)).config.configurable ?? {}).sort(),
    );
    expectTypeOf<RunSnapshot<Own>['values']>().toEqualTypeOf<Own>();
  });

  test('have nothing of the engine, at no checkpoint', async ({ db }) => {
    const app = durable(
      twoSteps(() => repeating({ log: ['first'] }, 0.9)),
      { db },
    );
    await app.run('run', {});
    const all = [await app.getState('run', { subgraphs: true }), ...(await app.getStateHistory('run'))];
    for (const { values, config, parentConfig } of all) {
      expect(JSON.stringify([values, config, parentConfig])).not.toMatch(ENGINES);
    }
  });

  test('go back by a checkpoint, page by page, by a filter', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await app.run('run', {});
    const whole = await app.getStateHistory('run');
    const [newest] = await app.getStateHistory('run', { limit: 1 });
    expect(newest).toEqual(whole[0]);
    const rest = await app.getStateHistory('run', { before: newest?.config as object });
    expect(rest).toEqual(whole.slice(1));
    const inputs = await app.getStateHistory('run', { filter: { source: 'input' } });
    expect(inputs).toEqual(whole.filter(({ metadata }) => metadata?.source === 'input'));
    const [, second] = whole;
    const checkpointId = String(second?.config.configurable?.['checkpoint_id']);
    expect((await app.getState('run', { checkpointId })).values).toEqual({ log: ['first'] });
  });

  test('tell the state of graphs inside nodes, where that is asked', async ({ db }) => {
    const Inner = Annotation.Root({ log: Annotation<readonly string[]> });
    const inner = new StateGraph(Inner)
      .addNode('deep', () => ({ log: ['deep'] }))
      .addEdge(START, 'deep')
      .addEdge('deep', END)
      .compile({ interruptBefore: ['deep'] });
    const app = durable(
      new StateGraph(Inner).addNode('outer', inner).addEdge(START, 'outer').addEdge('outer', END),
      { db },
    );
    await app.run('run', { log: ['in'] });
    const { tasks } = await app.getState('run', { subgraphs: true });
    expect(tasks[0]?.state).toMatchObject({ values: { log: ['in'] }, next: ['deep'] });
    expect((await app.getState('run')).tasks[0]?.state).toHaveProperty('configurable.checkpoint_ns');
  });

  test('are there before a run has begun, and of a run that its own channels refuse', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await internalsOf(app).recordRun({ threadId: 'run', input: {} });
    expect(await app.getState('run')).toMatchObject({ next: [], tasks: [] });
    expect(await app.getStateHistory('run')).toEqual([]);
  });

  test('are refused for what is not there', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await app.run('run', {});
    await app.run('other', {});
    const [theirs] = await app.getStateHistory('other', { limit: 1 });
    const ofOther = String(theirs?.config.configurable?.['checkpoint_id']);
    const notFound = { code: 'CHECKPOINT_NOT_FOUND' };
    await expect(app.getState('none')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    await expect(app.getStateHistory('none')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    await expect(app.getState('run', { checkpointId: ofOther })).rejects.toMatchObject(notFound);
    await expect(app.getState('run', { checkpointId: 7 as never })).rejects.toThrow(TypeError);
    await expect(app.getStateHistory('run', { before: theirs?.config as object })).rejects.toMatchObject(
      notFound,
    );
    await expect(app.getStateHistory('run', { before: {} })).rejects.toThrow(TypeError);
    for (const limit of [0, 1001, 1.5]) {
      await expect(app.getStateHistory('run', { limit })).rejects.toThrow(RangeError);
    }
  });
});
