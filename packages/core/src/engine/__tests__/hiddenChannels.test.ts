import { Annotation, Command, END, MemorySaver, Send, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { durable } from '../app/durable.ts';
import { progress } from '../node/nodeContext.ts';
import { ada, circle, type Own, OwnState, repeating, says, twoSteps } from './ownGraph.ts';

const ENGINES = /progressStep|pendingSuspension/;

/** Two nodes, the first of which makes progress and repeats itself: both of the engine's channels are written. */
const stuck = () =>
  twoSteps(() => {
    progress();
    return repeating({ log: ['first'] }, 0.9);
  });

interface Streaming {
  stream(input: object, config: object): Promise<AsyncIterable<unknown>>;
}

async function chunksOf(graph: Streaming, streamMode: 'values' | 'updates' | 'debug'): Promise<unknown[]> {
  const chunks: unknown[] = [];
  const config = { configurable: { thread_id: streamMode }, streamMode };
  for await (const chunk of await graph.stream({}, config)) chunks.push(chunk);
  return chunks;
}

describe('the channels of the engine', () => {
  test('are in no value that a caller gets', async ({ db }) => {
    const app = durable(stuck(), { db });
    const waiting = await app.run('run', { log: ['input'] });
    expect(waiting.gates).toMatchObject([{ kind: 'task_failure' }]);
    expect(waiting.values).toEqual({ log: ['input', 'first'] });
    expect(await app.values('run')).toEqual({ log: ['input', 'first'] });
    const configurable = { thread_id: 'run' };
    expect((await app.graph.getState({ configurable })).values).toEqual({ log: ['input', 'first'] });
    for await (const { values } of app.graph.getStateHistory({ configurable })) {
      expect(JSON.stringify(values)).not.toMatch(ENGINES);
    }

    await app.decide(only(waiting.gates), { action: 'retry', by: ada });
    expect(await app.run('run')).toMatchObject({
      status: 'completed',
      values: { log: ['input', 'first', 'second'] },
    });
  });

  test('are in no stream', async ({ db }) => {
    const build = twoSteps(() => ({ log: ['first'] }));
    const plain = build.compile({ checkpointer: new MemorySaver() });
    const { graph } = durable(
      twoSteps(() => {
        progress();
        return { log: ['first'] };
      }),
      { db },
    );
    for (const streamMode of ['updates', 'values'] as const) {
      expect(await chunksOf(graph, streamMode)).toEqual(await chunksOf(plain, streamMode));
    }
    expect(JSON.stringify(await chunksOf(graph, 'debug'))).not.toMatch(ENGINES);
    expect(graph.streamChannels).toEqual(plain.streamChannels);
  });

  test('are in no schema', ({ db }) => {
    const { graph } = durable(stuck(), { db });
    const names = Object.keys(graph.builder.channels);
    expect(names).toEqual(['log', 'answer']);
  });

  test('are not in what a gate shows, nor in the score’s state', async ({ db }) => {
    const seen: unknown[] = [];
    const app = durable(stuck(), {
      db,
      gates: {
        second: {
          show: (state) => {
            seen.push({ ...state });
            return state.log;
          },
          onReject: (state) => {
            seen.push({ ...state });
            return { log: ['rejected'] };
          },
        },
      },
      guards: {
        entropy: (state) => {
          seen.push({ ...state });
          return [];
        },
      },
    });
    const { gates } = await app.run('run', { log: ['input'] });
    await app.decide(only(gates), { action: 'retry', by: ada });
    const asked = await app.run('run');
    await app.decide(only(asked.gates), { approved: false, feedback: 'No.', by: ada });
    expect(await app.run('run')).toMatchObject({ values: { log: ['input', 'first', 'rejected'] } });
    expect(seen.length).toBeGreaterThan(3);
    expect(JSON.stringify(seen)).not.toMatch(ENGINES);
  });

  test('cannot be written by a node', async ({ db }) => {
    const app = durable(
      twoSteps(() => ({ log: ['first'], progressStep: 1_000, pendingSuspension: { kind: 'task_failure' } })),
      { db },
    );
    expect(await app.run('run', {})).toMatchObject({
      status: 'completed',
      values: { log: ['first', 'second'] },
    });
  });

  test.for(['progressStep', 'pendingSuspension', '__metadata__'])(
    'refuse an author’s channel of their name: %s',
    (name, { db }) => {
      const builder = new StateGraph(Annotation.Root({ [name]: Annotation<unknown>() }))
        .addNode('only', () => ({}))
        .addEdge(START, 'only');
      expect(() => durable(builder, { db })).toThrow(
        new TypeError(`The channel name "${name}" is reserved: rename it in the state of the graph.`),
      );
    },
  );

  test('leave their names to nodes', async ({ db }) => {
    const builder = new StateGraph(OwnState)
      .addNode('progressStep', says('ran'))
      .addEdge(START, 'progressStep');
    expect(await durable(builder, { db }).run('run', {})).toMatchObject({ values: { log: ['ran'] } });
  });

  test('say in a node that was sent a value how far it is from progress', async ({ db }) => {
    const builder = new StateGraph(OwnState)
      .addNode(
        'round',
        () => {
          progress();
          return new Command({ goto: new Send('sent', 'a text') });
        },
        { ends: ['sent'] },
      )
      .addNode('sent', ((value: unknown) => ({ log: [String(value)] })) as never)
      .addEdge(START, 'round')
      .addConditionalEdges('sent', ({ log }) => (log.length < 6 ? 'round' : END));
    const app = durable(builder, { db, guards: { maxDepth: 4 } });
    expect(await app.run('run', {})).toMatchObject({ status: 'completed', gates: [] });
  });

  test('stop a circle whose nodes have a schema of their own', async ({ db }) => {
    const app = durable(circle(), { db, guards: { maxDepth: 5 } });
    expect((await app.run('run', {})).gates).toMatchObject([{ kind: 'recursion_limit' }]);
  });

  test('ask at the end what the last node left open', async ({ db }) => {
    const last = new StateGraph(OwnState)
      .addNode('only', (): Partial<Own> => repeating({ log: ['only'] }, 0.9))
      .addEdge(START, 'only');
    const app = durable(last, { db });
    const { gates, values } = await app.run('run', {});
    expect(gates).toMatchObject([{ kind: 'task_failure' }]);
    expect(values).toEqual({ log: ['only'] });
    await app.decide(only(gates), { action: 'retry', by: ada });
    expect((await app.run('run')).status).toBe('completed');
  });
});

describe('the values of a run', () => {
  test('are null before it began, and its own when they are empty', async ({ db }) => {
    const app = durable(
      new StateGraph(Annotation.Root({ a: Annotation<number>() }))
        .addNode('only', () => ({}))
        .addEdge(START, 'only'),
      { db },
    );
    expect(await app.values('run')).toBeNull();
    expect((await app.run('run', {})).values).toEqual({});
  });

  test('of a run that failed with what its channels refuse are those of its checkpoint', async ({ db }) => {
    const build = new StateGraph(Annotation.Root({ a: Annotation<number>() }))
      .addNode('left', () => ({ a: 1 }))
      .addNode('right', () => ({ a: 2 }))
      .addEdge(START, 'left')
      .addEdge(START, 'right');
    const app = durable(build, { db });
    const { status, values, reason } = await app.run('run', { a: 0 }, { throwOnFailure: false });
    expect({ status, values }).toEqual({ status: 'failed', values: { a: 0 } });
    expect(reason).toContain('LastValue can only receive one value per step');
    expect(await app.values('run')).toEqual({ a: 0 });
  });
});
