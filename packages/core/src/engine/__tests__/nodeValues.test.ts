import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import {
  Annotation,
  Command,
  END,
  getCurrentTaskInput,
  MessagesAnnotation,
  Overwrite,
  Send,
  START,
  StateGraph,
  StateSchema,
} from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { byDurable, byLangGraph, type Given } from '../../../test/support/besideLangGraph.ts';
import { test } from '../../../test/support/fixtures.ts';
import { durable } from '../app/durable.ts';
import { progress } from '../node/nodeContext.ts';

const Words = Annotation.Root({
  words: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  last: Annotation<unknown>(),
});

type Build = (given: Given) => unknown;

/** Both ways, side by side: what the nodes were given, what the graph ends with or throws. */
async function expectEqual(build: Build, input: unknown, db: Database) {
  const plain = await byLangGraph(build, input);
  const own = await byDurable(build, input, db);
  expect(own.given).toStrictEqual(plain.given);
  const prototypes = (told: typeof plain) => told.given.map(([, value]) => prototypeOf(value));
  expect(prototypes(own)).toEqual(prototypes(plain));
  expect(own.ended).toStrictEqual(plain.ended);
  if (plain.ended.thrown === undefined) {
    expect(own.values).toStrictEqual(plain.values);
    expect(own.status).toBe('completed');
  } else {
    expect(own).toMatchObject({ status: 'failed', reason: plain.ended.thrown.message });
  }
  return plain;
}

const prototypeOf = (value: unknown): unknown =>
  value == null ? String(value) : (Object.getPrototypeOf(value) as object | null)?.constructor;

/** `first` returns or leads to what a test is about, `second` is told what it is given. */
function two(first: () => unknown, second: (value: unknown) => unknown = () => ({})): Build {
  return (given) =>
    new StateGraph(Words)
      .addNode('first', first as () => object, { ends: ['second', END] })
      .addNode('second', (state) => {
        given('second', state);
        return second(state) as object;
      })
      .addEdge(START, 'first');
}

describe('a node is given what LangGraph gives it', () => {
  test.for([
    ['a text', 'lions'],
    ['a number', 42],
    ['zero', 0],
    ['nothing', null],
    ['a truth', true],
    ['a list', ['a', { b: 1 }]],
    ['an object', { subject: 'lions' }],
    ['an object with fields of the engine', { progressStep: 7, pendingSuspension: 'mine' }],
    ['a message', new HumanMessage('Hello.')],
    ['a list of messages', [new HumanMessage('Hello.'), new AIMessage('Hi.')]],
    ['a date', new Date(0)],
    ['a map', new Map([['a', 1]])],
    ['a set', new Set([1, 2])],
    ['bytes', new Uint8Array([1, 2, 3])],
  ] as const)('sent by a command: %s', async ([, payload], { db }) => {
    const { given } = await expectEqual(
      two(() => new Command({ goto: new Send('second', payload) })),
      {},
      db,
    );
    expect(given).toHaveLength(1);
  });

  test('sent by a conditional edge, one task each', async ({ db }) => {
    const build: Build = (given) =>
      new StateGraph(Words)
        .addNode('plan', () => ({ words: ['planned'] }))
        .addNode('joke', (subject) => {
          given('joke', subject);
          return { words: [`about ${String(subject)}`] };
        })
        .addEdge(START, 'plan')
        .addConditionalEdges('plan', () => [new Send('joke', 'lions'), new Send('joke', 3)], ['joke']);
    const { values } = await expectEqual(build, {}, db);
    expect(values).toMatchObject({ words: ['planned', 'about lions', 'about 3'] });
  });

  test('the state has the author’s channels alone', async ({ db }) => {
    const build: Build = (given) =>
      new StateGraph(Words)
        .addNode('only', (state) => {
          given('only', state);
          given('task', getCurrentTaskInput());
          return {};
        })
        .addEdge(START, 'only')
        .addConditionalEdges('only', (state) => {
          given('edge', state);
          return END;
        });
    await expectEqual(build, { last: 'x' }, db);
  });

  test('with a schema of its own a node has the channels of that schema', async ({ db }) => {
    const Private = Annotation.Root({ note: Annotation<string>() });
    const build: Build = (given) =>
      new StateGraph(Words)
        .addNode('first', () => ({ note: 'for the second', last: 1 }))
        .addNode(
          'second',
          (state) => {
            given('second', state);
            return { last: 2 };
          },
          { input: Private },
        )
        .addEdge(START, 'first')
        .addEdge('first', 'second');
    await expectEqual(build, {}, db);
  });

  test('a graph of one unnamed channel has its value', async ({ db }) => {
    const build: Build = (given) =>
      new StateGraph({
        channels: { __root__: { value: (_left: unknown, right: unknown) => right, default: () => 0 } },
      } as never)
        .addNode('add', ((value: number) => {
          given('add', value);
          return value + 1;
        }) as never)
        .addEdge(START, 'add' as never);
    const { values } = await expectEqual(build, 4, db);
    expect(values).toBe(5);
  });

  test('messages keep their class through nodes and state', async ({ db }) => {
    const build: Build = (given) =>
      new StateGraph(MessagesAnnotation)
        .addNode('ask', () => ({ messages: [new HumanMessage({ id: '1', content: 'Hello.' })] }))
        .addNode('answer', ({ messages }: { messages: BaseMessage[] }) => {
          given('answer', messages);
          return { messages: new AIMessage({ id: '2', content: 'Hi.' }) };
        })
        .addEdge(START, 'ask')
        .addEdge('ask', 'answer');
    await expectEqual(build, {}, db);
  });
});

describe('a node gives what LangGraph takes', () => {
  const pairs = (...update: readonly (readonly [string, unknown])[]) =>
    new Command({ update: update as never });

  test.for<readonly [string, () => unknown]>([
    ['nothing', () => undefined],
    ['null', () => null],
    ['false', () => false],
    ['an empty text', () => ''],
    ['zero', () => 0],
    ['a text', () => 'text'],
    ['a number', () => 42],
    ['a truth', () => true],
    ['an empty list', () => []],
    ['a list without a command', () => [{ words: ['a'] }]],
    ['a list of sends', () => [new Send('second', 1)]],
    ['a send', () => new Send('second', { a: 1 })],
    ['unknown names', () => ({ words: ['a'], unknown: 1 })],
    ['an instance', () => Object.assign(new (class Update {})(), { words: ['a'] })],
    ['a map', () => new Map([['words', ['a']]])],
    ['inherited fields', () => Object.create({ words: ['inherited'] }) as object],
    ['pairs of one channel twice', () => pairs(['words', ['a']], ['words', ['b']])],
    ['pairs of a channel that takes one value', () => pairs(['last', 1], ['last', 2])],
    ['pairs that are none', () => new Command({ update: ['a', 'b'] as never })],
    ['pairs beside a way', () => new Command({ update: [['words', ['a']]] as never, goto: 'second' })],
    [
      'commands and updates mixed',
      () => [
        new Command({ update: { words: ['a'] }, goto: 'second' }),
        { words: ['b'] },
        pairs(['words', ['c']], ['words', ['d']]),
        null,
        new Command({ goto: [new Send('second', 'sent')] }),
      ],
    ],
    ['a list with a command and a text', () => [new Command({ update: { words: ['a'] } }), 'text']],
    ['a list with a command and a send', () => [new Command({ goto: 'second' }), new Send('second', 1)]],
    ['an overwritten value', () => ({ words: new Overwrite(['only']) })],
    ['an overwritten value of the wire', () => ({ words: { __overwrite__: ['only'] } })],
    ['a reducer that throws', () => ({ words: 5 })],
    ['an unknown way', () => new Command({ goto: 'nowhere' })],
    ['a send to nowhere', () => new Command({ goto: new Send('nowhere', 1) })],
    [
      'a command to a parent that is not there',
      () => new Command({ graph: Command.PARENT, update: { last: 1 } }),
    ],
    ['a field of the engine', () => ({ progressStep: 1_000, pendingSuspension: 'mine' })],
  ])('%s', async ([, first], { db }) => {
    await expectEqual(two(first), { words: ['0'] }, db);
  });

  test('a subclass of Command arrives at LangGraph as it is', async ({ db }) => {
    class Handover extends Command {
      readonly why = 'done';
    }
    const build: Build = (given) => {
      const inner = new StateGraph(Words)
        .addNode('hand', () => {
          const to = new Send('taker', new HumanMessage('Take it.'));
          return new Handover({
            graph: Command.PARENT,
            update: [
              ['words', ['a']],
              ['words', ['b']],
            ] as never,
            goto: to,
          });
        })
        .addEdge(START, 'hand')
        .compile();
      return new StateGraph(Words)
        .addNode('inner', inner, { ends: ['taker'] })
        .addNode('taker', (value) => {
          given('taker', value);
          return { words: ['taken'] };
        })
        .addEdge(START, 'inner');
    };
    const { values } = await expectEqual(build, {}, db);
    expect(values).toMatchObject({ words: ['a', 'b', 'taken'] });
  });

  test('what a graph inside a node hands up is taken as it is, and the node’s progress counts', async ({
    db,
  }) => {
    const told: unknown[] = [];
    const inner = new StateGraph(Words)
      .addNode('hand', () => {
        progress();
        return new Command({ graph: Command.PARENT, update: { words: ['handed up'] }, goto: 'taker' });
      })
      .addEdge(START, 'hand')
      .compile();
    const outer = new StateGraph(Words)
      .addNode('inner', inner, { ends: ['taker'] })
      .addNode('taker', ({ words }) => {
        told.push(...words);
        return {};
      })
      .addEdge(START, 'inner')
      .addConditionalEdges('taker', ({ words }) => (words.length < 6 ? 'inner' : END));
    const app = durable(outer, { db, guards: { maxDepth: 4 } });
    expect(await app.run('run', {})).toMatchObject({ status: 'completed', gates: [] });
    expect(new Set(told)).toEqual(new Set(['handed up']));
  });

  test('a durable graph inside a graph hands over to its parent', async ({ db }) => {
    const inner = new StateGraph(Words)
      .addNode('hand', () => new Command({ graph: Command.PARENT, update: { words: ['a'] }, goto: 'taker' }))
      .addEdge(START, 'hand');
    const outer =
      (node: unknown): Build =>
      (given) =>
        new StateGraph(Words)
          .addNode('inner', node as never, { ends: ['taker'] })
          .addNode('taker', (value) => {
            given('taker', value);
            return { words: ['taken'] };
          })
          .addEdge(START, 'inner');
    const plain = await byLangGraph(outer(inner.compile()), {});
    expect(await byLangGraph(outer(durable(inner, { db }).graph), {})).toEqual(plain);
  });
});

describe('a state by schema is checked as LangGraph checks it', () => {
  const State = z.object({ n: z.number().max(3), text: z.string().default('none') });
  const counting =
    (next: unknown): Build =>
    (given) =>
      new StateGraph(State)
        .addNode('count', (state) => {
          given('count', state);
          return { n: next } as { n: number };
        })
        .addEdge(START, 'count');

  test.for([2, 4, 'four', null])('of zod: %o', async (next, { db }) => {
    await expectEqual(counting(next), { n: 1 }, db);
  });

  test.for([2, 4, 'four'])('as a StateSchema: %o', async (next, { db }) => {
    const Schema = new StateSchema({ n: z.number().max(3) });
    const build: Build = (given) =>
      new StateGraph(Schema)
        .addNode('count', (state) => {
          given('count', state);
          return { n: next } as { n: number };
        })
        .addEdge(START, 'count');
    await expectEqual(build, { n: 1 }, db);
  });
});
