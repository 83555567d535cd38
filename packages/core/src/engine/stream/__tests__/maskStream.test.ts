import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { durable } from '../../app/durable.ts';
import { maskStream } from '../maskStream.ts';
import type { StreamEvent } from '../StreamEvent.ts';

const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40);
const STREAMS = { streamMode: ['custom', 'updates', 'values'] } as const;

async function* streamOf(events: readonly StreamEvent[]): AsyncGenerator<StreamEvent> {
  yield* events;
}

async function listOf<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const dataOf = (events: readonly StreamEvent[]): readonly unknown[] =>
  events.flatMap((event) => (event.mode === 'custom' || event.mode === 'messages' ? [event.data] : []));

const said = (id: string, data: string): StreamEvent => ({
  ...{ mode: 'messages', ns: [], id, task: `task ${id}`, node: 'ask', step: 1, attempt: 1, piece: 0, data },
});

/** A text in pieces that end anywhere. */
const pieces = fc
  .tuple(fc.constantFrom(`Use ${TOKEN} or password=hunter22 now`, `"${TOKEN}"`), fc.array(fc.nat(60)))
  .map(([text, cuts]) => {
    const ends = [...new Set([...cuts.filter((cut) => cut < text.length), text.length])].sort(
      (a, b) => a - b,
    );
    return ends.map((end, at) => text.slice(ends[at - 1] ?? 0, end));
  });

describe('a stream that people see', () => {
  test('shows no secret of a model, wherever its tokens end and whatever comes between', async () => {
    const both = fc.tuple(pieces, pieces, fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }));
    await fc.assert(
      fc.asyncProperty(both, async ([one, two, turns]) => {
        const left = { a: [...one], b: [...two] };
        const events: StreamEvent[] = [];
        for (const turn of [...turns, ...turns, ...turns]) {
          const id = turn ? 'a' : 'b';
          const next = left[id].shift();
          if (next !== undefined)
            events.push(said(id, next), { mode: 'custom', ns: [], seq: 1, data: { n: 1 } });
        }
        const shown = await listOf(maskStream(streamOf(events)));
        expect(JSON.stringify(shown)).not.toMatch(/a1B2|c3D4|hunter22/);
      }),
      { numRuns: 40 },
    );
  });

  test('shows what tasks beside each other tell, each as one text, and what was given stays as it was', async ({
    dbPath,
  }) => {
    const State = Annotation.Root({
      log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const half = TOKEN.length / 2;
    let turn = Promise.resolve();
    const next = () => {
      turn = turn.then(() => new Promise((resolve) => setTimeout(resolve, 2)));
      return turn;
    };
    const tell = (...texts: readonly unknown[]) => {
      return async (_state: unknown, { writer }: { writer?: ((chunk: unknown) => void) | undefined }) => {
        for (const text of texts) {
          await next();
          writer?.(text);
        }
        return { log: ['told'] };
      };
    };
    const builder = new StateGraph(State)
      .addNode('one', tell('The key: ', TOKEN.slice(0, half), TOKEN.slice(half), ' done'))
      .addNode('two', tell('x', 'y', 'z', { password: 'hunter22hunter' }))
      .addEdge(START, 'one')
      .addEdge(START, 'two')
      .addEdge('one', END)
      .addEdge('two', END);
    const app = durable(builder, { file: dbPath });
    const given = await listOf(app.stream('run', {}, STREAMS));
    const shown = await listOf(maskStream(app.stream('run', null, STREAMS)));
    expect(dataOf(given)).toEqual(
      expect.arrayContaining([TOKEN.slice(0, half), { password: 'hunter22hunter' }]),
    );
    expect(JSON.stringify(shown)).not.toMatch(/a1B2|c3D4|hunter22/);
    expect(dataOf(shown)).toContainEqual({ password: '[REDACTED]' });
    const texts = dataOf(shown).filter((data) => typeof data === 'string');
    expect(texts.join('')).toMatch(/\[REDACTED:github\]/);
    expect(texts.join('').replace(/[^xyz]/g, '')).toContain('xyz');
    const seqs = shown.map((event) => ('seq' in event ? event.seq : 0));
    expect([...new Set(seqs)].toSorted((a, b) => a - b)).toEqual(
      given.map((event) => ('seq' in event ? event.seq : 0)),
    );
    app.close();
  });
});
