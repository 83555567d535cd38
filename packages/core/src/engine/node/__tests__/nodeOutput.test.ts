import { Command, Overwrite, Send } from '@langchain/langgraph';
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
    expect(new NodeOutput(raw).toReturn()).toEqual({ value: raw, count: 0 });
    expect(new NodeOutput(raw).toReturn().value).toBe(raw);
  });

  test('is returned without its metadata', () => {
    const returned = (raw: unknown): unknown => new NodeOutput(raw).toReturn().value;
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
    const returned = (raw: unknown): unknown => new NodeOutput(raw).toReturn(additions).value;
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

describe('a secret in what a node returned', () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const masked = (raw: unknown): unknown => {
    const { value, count } = new NodeOutput(raw).toReturn();
    expect(count).toBe(1);
    expect(JSON.stringify(value)).not.toContain(secret);
    return value;
  };

  class Handover extends Command {
    readonly why = 'done';
  }
  class Note {
    readonly words: string;
    constructor(words: string) {
      this.words = words;
    }
  }

  test('is masked in updates, pairs and values to overwrite with', () => {
    expect(masked({ a: [secret] })).toEqual({ a: [expect.any(String)] });
    expect(
      masked(
        new Command({
          update: [
            ['a', secret],
            ['a', 'b'],
          ],
        }),
      ),
    ).toBeInstanceOf(Command);
    expect(masked({ a: new Overwrite(secret) })).toMatchObject({ a: expect.any(Overwrite) as unknown });
    expect(masked(new Command({ update: [['a', new Overwrite([secret])]] }))).toMatchObject({
      update: [['a', expect.any(Overwrite)]],
    });
    expect(masked([new Command({ goto: 'x' }), { a: secret }])).toMatchObject([{ goto: ['x'] }, {}]);
  });

  test('is masked in what its commands send, whose class stays', () => {
    const note = new Note(secret);
    const handover = masked(new Handover({ goto: new Send('x', note, { timeout: 5 }) })) as Handover;
    expect(handover).toBeInstanceOf(Handover);
    expect(handover.why).toBe('done');
    const [send] = handover.goto as [Send];
    expect(send).toBeInstanceOf(Send);
    expect(send.timeout).toEqual(new Send('x', 0, { timeout: 5 }).timeout);
    expect(send.args).toBeInstanceOf(Note);
    expect(note.words).toBe(secret);
  });

  test('is masked in an instance that is an update', () => {
    expect(masked(new Note(secret))).toBeInstanceOf(Note);
  });
});
