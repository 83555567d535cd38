import { type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { OwnState, says, twoSteps } from '../../__tests__/ownGraph.ts';
import { perToolCall } from '../../gates/DeclaredGate.ts';
import { step } from '../../node/step.ts';
import { child, sleep, waitFor } from '../../node/waitFor.ts';
import { durable } from '../durable.ts';

const by = { kind: 'human', id: 'ada' } as const;

/** As a program without types has them. */
const untyped = (options: object) => options as never;

describe('a mistyped option is refused, with the nearest that there is', () => {
  test('by durable, its guards and its gates, before anything is opened', ({ db }) => {
    const make = (options: object) => () => durable(twoSteps(), untyped({ db, ...options }));
    expect(make({ gate: {} })).toThrow(
      new TypeError('durable(): there is no option `gate`. Did you mean `gates`?'),
    );
    expect(make({ guards: { maxDeph: 3 } })).toThrow('Did you mean `maxDepth`?');
    expect(make({ gates: { second: { show: () => 1, onreject: () => ({}) } } })).toThrow(
      'Gate "second": there is no option `onreject`. Did you mean `onReject`?',
    );
    expect(make({ checkpointer: true })).toThrow(/It has these: file, db, runs/);
  });

  test.for([
    ['run', 'sginal', 'signal', (app, options) => app.run('r', { log: [] }, options)],
    ['run', 'throwOnFail', 'throwOnFailure', (app, options) => app.run('r', { log: [] }, options)],
    ['start', 'tennant', 'tenant', (app, options) => app.start('r', { log: [] }, options)],
    ['stream', 'streamMod', 'streamMode', (app, options) => app.stream('r', { log: [] }, options).next()],
    ['result', 'wiat', 'wait', (app, options) => app.result('r', options)],
    ['runDue', 'limt', 'limit', (app, options) => app.runDue(options)],
    ['list', 'statuss', 'status', (app, options) => app.list(options)],
    ['fork', 'checkpointID', 'checkpointId', (app, options) => app.fork('r', options)],
    ['fork', 'tennant', 'tenant', (app, options) => app.fork('r', { as: 'f', by }, options)],
    ['prune', 'keepLst', 'keepLast', (app, options) => app.prune('r', options)],
    ['updateState', 'asNod', 'asNode', (app, options) => app.updateState('r', {}, options)],
    ['acceptGraph', 'rename', 'renamed', (app, options) => app.acceptGraph('r', options)],
    ['revive', 'By', 'by', (app, options) => app.revive('r', options)],
    ['getState', 'subgraph', 'subgraphs', (app, options) => app.getState('r', options)],
    ['getStateHistory', 'limt', 'limit', (app, options) => app.getStateHistory('r', options)],
    ['pause', 'abrot', 'abort', (app, options) => app.pause('r', options)],
    ['cancel', 'bye', 'by', (app, options) => app.cancel('r', options)],
    [
      'signal',
      'signalID',
      'signalId',
      (app, options) => app.signal('r', 's', 1, Object.assign({ by }, options) as never),
    ],
  ] satisfies readonly [
    string,
    string,
    string,
    (app: ReturnType<typeof appOver>, options: never) => Promise<unknown>,
  ][])('by app.%s: %s', async ([method, wrong, right, call], { db }) => {
    const app = appOver(db);
    const refused = await (async () => call(app, untyped({ [wrong]: 1 })))().catch((error: unknown) => error);
    expect(refused).toEqual(
      new TypeError(`app.${method}(): there is no option \`${wrong}\`. Did you mean \`${right}\`?`),
    );
    expect((await app.list()).runs).toEqual([]);
  });

  test('by a step, as is a kind that there is not, before it is called', async ({ db }) => {
    let calls = 0;
    const call = async (options: object): Promise<unknown> => {
      const builder = new StateGraph(OwnState)
        .addNode('call', async () => {
          await step('llm', () => (calls += 1), untyped(options));
          return {};
        })
        .addEdge(START, 'call');
      const app = durable(builder, { db });
      return (await app.run(JSON.stringify(options), { log: [] }, { throwOnFailure: false })).error;
    };
    expect(await call({ kind: 'llm' })).toMatchObject({
      name: 'TypeError',
      message: 'step("llm"): `kind` is "call" or "work", not "llm".',
    });
    expect(await call({ reserv: {} })).toMatchObject({ message: expect.stringContaining('`reserve`') });
    await expect(step('llm', () => (calls += 1), untyped({ kind: 'llm' }))).rejects.toThrow(TypeError);
    expect(calls).toBe(0);
  });
});

describe('inside a node', () => {
  /** How a node that makes a call ends its run. */
  async function errorOf(db: Db, call: (config: LangGraphRunnableConfig) => Promise<unknown>) {
    const builder = new StateGraph(OwnState)
      .addNode('call', async (_state, config) => {
        await call(config);
        return {};
      })
      .addEdge(START, 'call');
    const app = durable(builder, { db });
    return (await app.run('parent', { log: [] }, { throwOnFailure: false })).error?.message ?? null;
  }

  test.for([
    ['sleep()', 'nmae', 'name', () => sleep(60_000, untyped({ nmae: 'a' }))],
    ['waitFor("paid")', 'whithin', 'within', () => waitFor('paid', untyped({ whithin: 1 }))],
  ] as const)('%s: %s', async ([what, wrong, right, call], { db }) => {
    const message = `${what}: there is no option \`${wrong}\`. Did you mean \`${right}\`?`;
    expect(await errorOf(db, call)).toBe(message);
    await expect(call()).rejects.toThrow(message);
  });

  test('child(): a mistyped option, before there is a child', async ({ db }) => {
    const below = appOver(db);
    const given = untyped({ metdata: { a: 1 } });
    expect(await errorOf(db, () => child(below, 'below', { log: [] }, given))).toBe(
      'child(): there is no option `metdata`. Did you mean `metadata`?',
    );
    expect((await below.list()).runs).toMatchObject([{ id: 'parent' }]);
  });

  test('child() takes a config of LangGraph, of which it uses what a child has', async ({ db }) => {
    const below = appOver(db);
    const ended: unknown[] = [];
    const message = await errorOf(db, async ({ configurable: _, ...config }) => {
      const given = { ...config, configurable: { team: 'red' }, recursionLimit: 7, subgraphs: true };
      ended.push(
        await child(below, 'below', { log: [] }, { ...given, tags: ['a'], metadata: { of: 'acme' } }),
      );
    });
    expect(message).toBeNull();
    expect(ended).toMatchObject([{ status: 'completed' }]);
    expect(await below.get('below')).toMatchObject({ status: 'completed' });
  });

  test('a config of LangGraph is taken to read the history of a run and to call a graph', async ({ db }) => {
    const app = appOver(db);
    await app.run('r', { log: [] }, { tags: ['a'], metadata: { of: 'acme' }, callbacks: [] });
    const [newest, before] = await app.getStateHistory('r', { limit: 2 });
    const config = { ...newest?.config, recursionLimit: 7, tags: ['a'], metadata: {}, signal: undefined };
    expect(await app.getStateHistory('r', { before: config as never, limit: 1 })).toEqual([before]);
    const graph = twoSteps().compile();
    const said = await errorOf(db, (own) =>
      graph.invoke({ log: [] }, { ...own, runName: 'inner', subgraphs: true }),
    );
    expect(said).toBeNull();
  });
});

describe('gates and declarations', () => {
  test('perToolCall, recordCalls and graphChanges', ({ db }) => {
    expect(() => perToolCall(undefined, untyped({ approval: 1 }))).toThrow(
      'perToolCall(): there is no option `approval`. Did you mean `approvals`?',
    );
    const changes = (graphChanges: object) => () => durable(twoSteps(), untyped({ db, graphChanges }));
    expect(changes({ rename: {} })).toThrow(
      'graphChanges: there is no option `rename`. Did you mean `renamed`?',
    );
    expect(changes({ renamed: { node: {} } })).toThrow(
      'graphChanges.renamed: there is no option `node`. Did you mean `nodes`?',
    );
    expect(changes({ removed: { chanels: [] } })).toThrow(
      'graphChanges.removed: there is no option `chanels`. Did you mean `channels`?',
    );
  });

  test('acceptGraph, what is renamed and removed too', async ({ db }) => {
    const app = appOver(db);
    await app.run('r', { log: [] });
    const accept = (changes: object) => app.acceptGraph('r', untyped({ by, ...changes }));
    await expect(accept({ renamed: { node: {} } })).rejects.toThrow('Did you mean `nodes`?');
    await expect(accept({ removed: { gate: [] } })).rejects.toThrow('Did you mean `gates`?');
    expect(await accept({ removed: ['x'] })).toEqual({ changes: [] });
  });
});

describe('decide', () => {
  test('says what happened where there is no gate', async ({ db }) => {
    const app = durable(new StateGraph(OwnState).addNode('a', says('a')).addEdge(START, 'a'), { db });
    const { gates } = await app.run('r', { log: [] });
    const decide = (gate: unknown, answer: unknown) => app.decide(gate as never, answer as never);
    await expect(decide(gates[0], { approved: true, by })).rejects.toThrow(
      /there is no gate .* ended, failed/,
    );
    await expect(decide(gates, { approved: true, by })).rejects.toThrow('expected one gate');
    const gate = { sessionId: 's', artifactHash: 'h' };
    await expect(decide(gate, undefined)).rejects.toThrow('expected an answer');
  });
});

type Db = Parameters<typeof durable>[1]['db'] & object;

function appOver(db: Db) {
  return durable(twoSteps(), { db });
}
