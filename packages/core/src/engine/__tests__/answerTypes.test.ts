import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import { describe, expect, expectTypeOf } from 'vitest';
import { z } from 'zod';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { durable } from '../app/durable.ts';
import type { Gate, GateAnswer } from '../gates/Gate.ts';

const Post = Annotation.Root({ text: Annotation<string>, cents: Annotation<number> });
const by = { kind: 'human', id: 'ada' } as const;
const Price = z.object({ cents: z.int() });

const posts = () =>
  new StateGraph(Post)
    .addNode('publish', () => ({}))
    .addNode('sell', () => ({ text: String(interrupt('sure?')) }))
    .addEdge(START, 'publish')
    .addEdge('publish', 'sell');

describe('what a gate shows and takes is known to the compiler', () => {
  test('from its declaration', async ({ db }) => {
    const app = durable(posts(), {
      db,
      gates: {
        publish: ({ text }) => ({ text, words: text.split(' ').length }),
        sell: { show: ({ cents }) => cents, answer: Price, onAnswer: (_state, { cents }) => ({ cents }) },
      },
    });
    const [first] = (await app.run('run', { text: 'two words', cents: 1 })).gates;
    if (first?.kind !== 'node_gate') return expect.fail('no declared gate');
    expectTypeOf(first.artifact).toEqualTypeOf<{ text: string; words: number } | number>();
    expect(first.artifact).toEqual({ text: 'two words', words: 2 });
    // @ts-expect-error: mistyped
    const mistyped = () => app.decide(first, { approvd: true, by });
    // @ts-expect-error: cents are a number
    const wrong = () => app.decide(first, { value: { cents: 'seven' }, by });
    // @ts-expect-error: no gate of this app takes a version
    const edited = () => app.decide(first, { edit: 'x', by });
    // @ts-expect-error: of nobody
    const nobody = () => app.decide(first, { approved: true });
    expect([mistyped, wrong, edited, nobody]).toHaveLength(4);
    await app.decide(first, { approved: true, by });
    const second = only((await app.run('run')).gates);
    await app.decide(second, { value: { cents: 7 }, by });
    const asked = only((await app.run('run')).gates);
    expectTypeOf(asked.kind).toEqualTypeOf<Gate['kind']>();
    await app.decide(asked, { value: 'yes', by });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { text: 'yes' } });
  });

  test('from its kind, wherever it was read', () => {
    const budget = {} as Gate & { readonly kind: 'budget' };
    const raised = { action: 'raise', calls: 3, by } as const satisfies GateAnswer<typeof budget>;
    // @ts-expect-error: a budget is not approved
    const approved: GateAnswer<typeof budget> = { approved: true, by };
    // @ts-expect-error: no action of any gate
    const unknown: GateAnswer = { action: 'retri', by };
    // @ts-expect-error: mistyped
    const mistyped: GateAnswer = { approvd: true, by };
    expect([raised, approved, unknown, mistyped]).toHaveLength(4);
  });

  test('and a result that may have failed is only there for who asks for it', async ({ db }) => {
    const app = durable(posts(), { db });
    const thrown = async () => (await app.run('run', {})).status;
    const told = async () => (await app.run('run', {}, { throwOnFailure: false })).status;
    type Thrown = Awaited<ReturnType<typeof thrown>>;
    expectTypeOf<Extract<Thrown, 'failed' | 'dead_letter'>>().toBeNever();
    expectTypeOf<Extract<Awaited<ReturnType<typeof told>>, 'failed'>>().toEqualTypeOf<'failed'>();
    expect(await thrown()).toBe('waiting');
  });
});
