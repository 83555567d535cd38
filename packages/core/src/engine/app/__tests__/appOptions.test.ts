import { START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { OwnState, says, twoSteps } from '../../__tests__/ownGraph.ts';
import { step } from '../../node/step.ts';
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

function appOver(db: Parameters<typeof durable>[1]['db'] & object) {
  return durable(twoSteps(), { db });
}
