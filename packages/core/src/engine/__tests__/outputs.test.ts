import {
  Annotation,
  Command,
  END,
  INTERRUPT,
  interrupt,
  MemorySaver,
  START,
  StateGraph,
} from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect, expectTypeOf } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { runByLangGraph } from '../../../test/support/runByLangGraph.ts';
import { MemoryRuns } from '../../testing/MemoryRuns.ts';
import { durable } from '../app/durable.ts';
import { child } from '../node/waitFor.ts';
import { ada, twoSteps } from './ownGraph.ts';

const Log = Annotation<readonly string[]>({
  reducer: (left, right) => [...left, ...right],
  default: () => [],
});
const Wide = Annotation.Root({ log: Log, question: Annotation<string>(), draft: Annotation<string>() });
const Answer = Annotation.Root({ log: Log, draft: Annotation<string>() });
/** Of a node's input alone: no part of the state's schema. */
const Secret = Annotation.Root({ log: Log, secret: Annotation<string>() });

const CHANNELS = ['log', 'question', 'draft', 'secret'] as const;
type Channel = (typeof CHANNELS)[number];

interface Random {
  readonly output: readonly Channel[];
  readonly input: Readonly<Record<string, unknown>>;
  /** What its two nodes write; the second asks first where it is said so. */
  readonly writes: readonly (readonly Channel[])[];
  readonly asks: boolean;
}

const written = (names: readonly Channel[], by: string): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, name === 'log' ? [by] : `${name} of ${by}`]));

function graphOf({ output, writes, asks }: Random) {
  const spec = { ...Wide.spec, ...Secret.spec };
  const Output = Annotation.Root(Object.fromEntries(output.map((name) => [name, spec[name]])));
  return new StateGraph(Wide, { output: Output as unknown as typeof Answer })
    .addNode('first', () => written(writes[0] ?? [], 'first'), { input: Secret })
    .addNode('second', () => ({
      ...(asks && { question: String(interrupt('Which?')) }),
      ...written(writes[1] ?? [], 'second'),
    }))
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', END);
}

const names = fc.subarray([...CHANNELS]);
const randoms: fc.Arbitrary<Random> = fc.record({
  output: fc.subarray([...CHANNELS], { minLength: 1 }),
  input: fc.subarray(['log', 'question', 'draft'] as const).map((given) => written(given, 'input')),
  writes: fc.tuple(names, names),
  asks: fc.boolean(),
});

interface Plain {
  invoke(input: unknown, config: object): Promise<Record<string, unknown>>;
  getState(config: object): Promise<{ readonly values: object }>;
  stream(input: unknown, config: object): Promise<AsyncIterable<unknown>>;
}

const CONFIG = { configurable: { thread_id: 't' } };

/** LangGraph's `invoke` returns nothing where nothing of the output was written: then what the channels hold anyway. */
function told(
  { [INTERRUPT]: _, ...values }: Record<string, unknown> = {},
  state: object,
  output: readonly string[],
): unknown {
  if (Object.keys(values).length > 0) return values;
  return Object.fromEntries(Object.entries(state).filter(([name]) => output.includes(name)));
}

async function all<T>(events: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}

const bySchema = () =>
  new StateGraph(Wide, { output: Answer })
    .addNode('hide', () => ({ log: ['hidden'], secret: 'kept' }), { input: Secret })
    .addNode('work', ({ question }) => ({ log: [question], draft: 'a draft' }))
    .addEdge(START, 'hide')
    .addEdge('hide', 'work')
    .addEdge('work', END);

const OUTPUT = { log: ['hidden', 'why?'], draft: 'a draft' };
const WHOLE = { ...OUTPUT, question: 'why?', secret: 'kept' };

describe('the values of a result', () => {
  test('are what invoke returns, whatever the output schema has, and the state stays whole', {
    timeout: 60_000,
  }, async ({ db }) => {
    let runs = 0;
    const property = fc.asyncProperty(randoms, async (random) => {
      const plain = graphOf(random).compile({ checkpointer: new MemorySaver() }) as unknown as Plain;
      const app = durable(graphOf(random), { db });
      runs += 1;
      const id = `run-${runs}`;
      const stands = async (output: Record<string, unknown> | undefined) => {
        const { values } = await plain.getState(CONFIG);
        expect(await app.values(id)).toStrictEqual(values);
        expect((await app.getState(id)).values).toStrictEqual(values);
        expect((await app.run(id)).values).toStrictEqual(told(output, values, random.output));
      };
      const output = await plain.invoke(random.input, CONFIG);
      const { status, gates } = await app.run(id, random.input);
      expect(status).toBe(random.asks ? 'waiting' : 'completed');
      await stands(output);
      if (!random.asks) return;
      await app.decide(gates[0] as never, { value: 'this', by: ada });
      await app.run(id);
      await stands(await plain.invoke(new Command({ resume: 'this' }), CONFIG));
    });
    await runByLangGraph(() => fc.assert(property, { numRuns: 25 }));
  });

  test('are streamed whole, as LangGraph streams them', async ({ db }) => {
    const input = { question: 'why?' };
    const plain = bySchema().compile({ checkpointer: new MemorySaver() }) as unknown as Plain;
    const streamMode = ['updates', 'values'] as const;
    const chunks = await all(await plain.stream(input, { ...CONFIG, streamMode: [...streamMode] }));
    const events = await all(durable(bySchema(), { db }).stream('run', input, { streamMode }));
    const streamed = events.flatMap((event) => ('data' in event ? [[event.mode, event.data]] : []));
    expect(streamed).toStrictEqual(chunks);
    expect(streamed.at(-1)).toStrictEqual(['values', WHOLE]);
  });

  test('are the output of turns that were, and of children', async ({ db }) => {
    const app = durable(bySchema(), { db });
    const first = await app.run('chat', { question: 'why?' }, { turn: 'one' });
    await app.run('chat', { question: 'how?' }, { turn: 'two' });
    expect(first.values).toStrictEqual(OUTPUT);
    expect((await app.run('chat', { question: 'why?' }, { turn: 'one' })).values).toStrictEqual(OUTPUT);
    let found: unknown = null;
    const parent = durable(
      twoSteps(async () => {
        const { values } = await child(app, 'below', { question: 'why?' });
        found = values;
        expectTypeOf(values).toEqualTypeOf<{ log: readonly string[]; draft: string } | null>();
        return { log: [values?.draft ?? ''] };
      }),
      { db },
    );
    expect((await parent.run('above', {})).values).toEqual({ log: ['a draft', 'second'] });
    expect(found).toStrictEqual(OUTPUT);
    expect(await app.values('below')).toStrictEqual(WHOLE);
  });

  test('are the output of runs that have a file each, driven here or there', async () => {
    const app = durable(bySchema(), { runs: new MemoryRuns(), graph: 'questions' });
    const { values } = await app.run('run', { question: 'why?' });
    expect(values).toStrictEqual(OUTPUT);
    expect((await app.result('run')).values).toStrictEqual(OUTPUT);
    expect((await app.result('run', { wait: true })).values).toStrictEqual(OUTPUT);
    expect(await app.values('run')).toStrictEqual(WHOLE);
    expectTypeOf((await app.result('run')).values?.draft).toEqualTypeOf<string | undefined>();
  });

  test('have the type of the output schema, and gates show the whole state', async ({ db }) => {
    const app = durable(bySchema(), { db, gates: { work: ({ question, log }) => [question, ...log] } });
    const { values, gates } = await app.run('run', { question: 'why?' });
    expectTypeOf(values?.draft).toEqualTypeOf<string | undefined>();
    // @ts-expect-error: no channel of the output
    expect(values?.question).toBeUndefined();
    expect((await app.values('run'))?.question).toBe('why?');
    expect(gates.map(({ artifact }) => artifact)).toEqual([['why?', 'hidden']]);
    expect((await app.runDue()).driven).toEqual([]);
  });

  test('are a single value where the state is one', async ({ db }) => {
    const Single = Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] });
    const single = new StateGraph(Annotation.Root({ __root__: Single }))
      .addNode('work', () => ['worked'] as never)
      .addEdge(START, 'work')
      .addEdge('work', END);
    const output = await single.compile().invoke(['in'] as never);
    expect((await durable(single as never, { db }).run('run', ['in'] as never)).values).toEqual(output);
  });
});
