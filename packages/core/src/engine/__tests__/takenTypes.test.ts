import { entrypoint, ReducedValue, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../test/support/fixtures.ts';
import { durable } from '../app/durable.ts';
import { perToolCall } from '../gates/DeclaredGate.ts';
import { type Own, OwnState, type OwnUpdate, says, twoSteps } from './ownGraph.ts';

const Schema = new StateSchema({
  question: z.string(),
  log: new ReducedValue(
    z.array(z.string()).default(() => []),
    { reducer: (left: string[], right: string[]) => [...left, ...right] },
  ),
});

// What is said here is said to the compiler: a cast or an `any` would hide what a user meets.
describe('a graph is taken with its types', () => {
  test('of a StateSchema', async ({ db }) => {
    const graph = new StateGraph(Schema)
      .addNode('ask', ({ question }) => ({ log: [question] }))
      .addEdge(START, 'ask');
    const app = durable(graph, { db, gates: { ask: ({ question }) => question.length } });
    const { values } = await app.run('run', { question: 'why?' });
    const question: string | undefined = values?.question;
    expect(question).toBe('why?');
    // @ts-expect-error: no channel of the graph
    const other: unknown = values?.answer;
    expect(other).toBeUndefined();
    // @ts-expect-error: a question is a text
    const wrong = () => app.run('other', { question: 7 });
    expect(wrong).toBeTypeOf('function');
    const compiled = durable(graph.compile(), { db });
    expect((await compiled.run('compiled', { question: 'how?' })).values?.log).toEqual(['how?']);
  });

  test('filled step by step', async ({ db }) => {
    const builder = new StateGraph<typeof OwnState.spec, Own, OwnUpdate, string>(OwnState);
    for (const name of ['first', 'second']) builder.addNode(name, says(name));
    builder.addEdge(START, 'first');
    builder.addEdge('first', 'second');
    const app = durable(builder, { db, gates: { second: ({ log }) => log } });
    const { gates, values } = await app.run('run', { log: ['input'] });
    const log: readonly string[] | undefined = values?.log;
    expect({ log, shown: gates.map(({ artifact }) => artifact) }).toEqual({
      log: ['input', 'first'],
      shown: [['input', 'first']],
    });
    const unknowing = new StateGraph(OwnState);
    unknowing.addNode('first', says('first')).addEdge(START, 'first');
    durable(unknowing, { db, gates: { first: ({ log: shown }) => shown } });
  });

  test('with gates that are answered by a value of their schema', ({ db }) => {
    const show = ({ log }: Own) => log;
    const Price = z.object({ cents: z.int() });
    durable(twoSteps(), {
      db,
      gates: {
        first: { show, answer: Price, onAnswer: (_state, { cents }) => ({ log: [cents.toFixed(2)] }) },
        second: {
          show,
          answer: z.enum(['a', 'b']),
          onAnswer: ({ log }, letter: 'a' | 'b') => ({ log: [...log, letter] }),
        },
      },
    });
    durable(twoSteps(), {
      db,
      // @ts-expect-error: cents are a number
      gates: { first: { show, answer: Price, onAnswer: (_state, { cents }) => ({ log: [cents] }) } },
    });
    // @ts-expect-error: the state has no such channel
    durable(twoSteps(), { db, gates: { first: ({ price }) => price } });
  });

  test('with gates per tool call and inside of nodes', ({ db }) => {
    const inner = new StateGraph(OwnState)
      .addNode('publish', says('published'))
      .addEdge(START, 'publish')
      .compile();
    const graph = new StateGraph(OwnState).addNode('sub', inner).addEdge(START, 'sub');
    durable(graph, {
      db,
      gates: { 'sub:publish': { show: ({ log }: Own) => log, onReject: () => ({ log: [] }) } },
    });
    durable(graph, { db, gates: { sub: perToolCall(({ name }, { log }) => [name, ...log]) } });
    // @ts-expect-error: there is no such node
    expect(() => durable(graph, { db, gates: { 'top:publish': ({ log }: Own) => log } })).toThrow('top');
  });

  test('with gates before nodes it has', ({ db }) => {
    durable(twoSteps(), { db, gates: { second: ({ log }) => log } });
    // @ts-expect-error: there is no such node
    expect(() => durable(twoSteps(), { db, gates: { third: ({ log }) => log } })).toThrow('third');
    // @ts-expect-error: there is no such node, in a compiled graph either
    expect(() => durable(twoSteps().compile(), { db, gates: { third: () => 1 } })).toThrow('third');
  });

  test('of an entrypoint, by its input and what it returns', async ({ db }) => {
    const flow = entrypoint('flow', async ({ text }: { text: string }) => text.length);
    const app = durable(flow, { db });
    const { values } = await app.run('run', { text: 'abc' });
    const length: number | null = values;
    const stored: number | null = await app.values('run');
    expect([length, stored]).toEqual([3, 3]);
    const compiled: typeof flow = app.graph;
    expect(compiled.name).toBe('flow');
    // @ts-expect-error: its input has a text
    const wrong = () => app.run('other', { texts: 'abc' });
    // @ts-expect-error: it returns a number
    const text: string = values ?? 0;
    expect([wrong, text]).toHaveLength(2);
    const finals = entrypoint('finals', (word: string) =>
      entrypoint.final({ value: { word }, save: word.length }),
    );
    const word: string | undefined = (await durable(finals, { db }).run('finals', 'abc')).values?.word;
    expect(word).toBe('abc');
  });

  test('and gives turns of it', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    const { turn } = await app.run('run', { log: ['a'] }, { turn: 'm-1', wait: true });
    const key: string | undefined = turn;
    expect(key).toBe('m-1');
    // @ts-expect-error: a key is a text
    const wrong = () => app.run('run', {}, { turn: 17 });
    // @ts-expect-error: what is driven is the turn that the run stands in
    const other = () => app.drive('run', { turn: 'm-1' });
    expect([wrong, other]).toHaveLength(2);
  });
});
