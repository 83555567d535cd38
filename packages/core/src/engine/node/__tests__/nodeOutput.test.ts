import { Command, Send } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import { METADATA_KEY, NodeOutput } from '../nodeOutput.ts';

const metadata = { entropyScore: 0.5 };

describe('what a node returned', () => {
  test.each([
    ['nothing', undefined, {}, {}],
    ['null', null, {}, {}],
    ['an update', { a: 1 }, { a: 1 }, {}],
    ['an update with metadata', { a: 1, [METADATA_KEY]: metadata }, { a: 1 }, metadata],
    ['metadata that is none', { a: 1, [METADATA_KEY]: 0.5 }, { a: 1 }, {}],
    ['a command', new Command({ update: { a: 1, [METADATA_KEY]: metadata }, goto: 'x' }), { a: 1 }, metadata],
    ['a command without an update', new Command({ goto: 'x' }), {}, {}],
    [
      'a command that updates in pairs',
      new Command({
        update: [
          ['a', 1],
          ['b', 2],
        ],
      }),
      { a: 1, b: 2 },
      {},
    ],
    [
      'several parts, of which the later win',
      [{ a: 1, b: 1 }, new Command({ update: { b: 2 } })],
      { a: 1, b: 2 },
      {},
    ],
    ['no part at all', [], {}, {}],
  ])('gives its update without metadata: %s', (_, raw, update, found) => {
    const output = new NodeOutput(raw);
    expect(output.update).toEqual(update);
    expect(output.metadata).toEqual(found);
  });

  test.each([
    ['nothing', undefined],
    ['a text', 'text'],
    ['a number', 0],
    ['an update', { a: 1 }],
    ['a list without a command', [{ a: 1 }, { b: 2 }]],
    ['an instance', new Map([['a', 1]])],
    ['a send', new Send('x', { y: 1 })],
    ['a command', new Command({ update: { a: 1 }, goto: 'x', graph: Command.PARENT })],
    ['commands and updates', [new Command({ goto: [new Send('x', 1)] }), { a: 1 }, null]],
  ])('is what LangGraph gets: %s', (_, raw) => {
    expect(new NodeOutput(raw).toReturn()).toBe(raw);
  });

  test('is returned without its metadata', () => {
    const returned = (raw: unknown): unknown => new NodeOutput(raw).toReturn();
    expect(returned({ a: 1, [METADATA_KEY]: metadata })).toEqual({ a: 1 });
    const pairs: [string, unknown][] = [
      ['a', 1],
      [METADATA_KEY, metadata],
      ['a', 2],
    ];
    const [command, update] = returned([
      new Command({ update: pairs, goto: 'x' }),
      { [METADATA_KEY]: metadata },
    ]) as [Command, object];
    expect(command).toMatchObject({ update: [pairs[0], pairs[2]], goto: ['x'] });
    expect(update).toEqual({});
  });

  test('gets what the engine adds around its first update', () => {
    const additions = { before: { a: 0, b: 0 }, after: { c: 9 } };
    const returned = (raw: unknown): unknown => new NodeOutput(raw).toReturn(additions);
    expect(returned(undefined)).toEqual({ a: 0, b: 0, c: 9 });
    expect(returned({ a: 1, c: 1 })).toEqual({ a: 1, b: 0, c: 9 });
    expect(returned('refused')).toBe('refused');
    const [first, second] = returned([new Command({ update: [['a', 1]] }), { d: 1 }]) as [Command, object];
    expect(first.update).toEqual([
      ['a', 0],
      ['b', 0],
      ['a', 1],
      ['c', 9],
    ]);
    expect(second).toEqual({ d: 1 });
  });

  test('writes nothing to this graph that is for its parent, or that LangGraph refuses', () => {
    const writes = (raw: unknown): unknown => new NodeOutput(raw).writes;
    expect(writes(new Command({ update: { a: 1 }, graph: Command.PARENT }))).toEqual([]);
    expect(writes([{ a: 1 }])).toEqual([]);
    expect(writes('text')).toEqual([]);
    expect(writes(new Command({ update: ['a'] as never }))).toEqual([]);
  });
});
