import { Command, Send } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import { METADATA_KEY, NodeOutput } from '../nodeOutput.ts';

const metadata = { entropyScore: 0.5 };
const marked = (update: Readonly<Record<string, unknown>>, isFirst: boolean) => ({ ...update, isFirst });

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

  test('keeps its form when its updates are changed', () => {
    expect(new NodeOutput(undefined).map(marked)).toEqual({ isFirst: true });
    expect(new NodeOutput({ a: 1, [METADATA_KEY]: metadata }).map(marked)).toEqual({ a: 1, isFirst: true });
    expect(new NodeOutput([{ a: 1 }, { b: 2 }]).map(marked)).toEqual([
      { a: 1, isFirst: true },
      { b: 2, isFirst: false },
    ]);
  });

  test('keeps where its commands lead', () => {
    const goto = [new Send('x', { y: 1 })];
    const changed = new NodeOutput([
      new Command({ update: { a: 1 }, goto, graph: Command.PARENT }),
      new Command({ resume: false }),
      new Command({ update: { b: 2 } }),
    ]).map(marked) as readonly Command[];
    expect(changed).toMatchObject([
      { update: { a: 1, isFirst: true }, goto, graph: Command.PARENT },
      { update: { isFirst: false }, resume: false },
      { update: { b: 2, isFirst: false } },
    ]);
    expect(changed.every((command) => command instanceof Command)).toBe(true);
    expect(changed[2]?.resume).toBeUndefined();
  });
});
