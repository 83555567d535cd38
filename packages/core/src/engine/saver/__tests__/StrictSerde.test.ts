import { createRequire } from 'node:module';
import { Document } from '@langchain/core/documents';
import { AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { Command, Overwrite, Send } from '@langchain/langgraph';
import { DeltaSnapshot } from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { howMany } from '../../../../test/support/howMany.ts';
import { isDevsError } from '../../../errors/DevsError.ts';
import { StrictSerde } from '../StrictSerde.ts';

const serde = new StrictSerde();

async function roundTrip(value: unknown): Promise<unknown> {
  const [type, bytes] = await serde.dumpsTyped(value);
  return await serde.loadsTyped(type, bytes);
}

async function refusalOf(
  value: unknown,
  strict: StrictSerde = serde,
): Promise<{ code: string; path: unknown }> {
  const error: unknown = await strict.dumpsTyped(value).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (isDevsError(error)) return { code: error.code, path: error.context['path'] };
  throw new Error(`not refused: ${String(error)}`);
}

const bare = (members: object): object => Object.assign(Object.create(null) as object, members);

describe('what comes back equal', () => {
  const failure = Object.assign(new TypeError('bad', { cause: { code: 7 } }), { code: 'E_BAD' });
  test.each<[string, unknown]>([
    ['JSON', { a: [1, 'two', null, true, { b: {} }], é: '漢\u0000\ud83d\ude00' }],
    ['nothing', undefined],
    ['undefined in objects and arrays', { a: undefined, b: [undefined, 1] }],
    ['negative zero', [0, -0, { z: -0 }]],
    ['large and small numbers', [Number.MAX_SAFE_INTEGER, Number.MIN_VALUE, 1e308, -1.5e-9]],
    ['dates', { at: new Date(0), list: [new Date(8.64e15)] }],
    [
      'maps',
      new Map<unknown, unknown>([
        [{ k: 1 }, new Set([1])],
        ['x', undefined],
      ]),
    ],
    ['sets', new Set<unknown>([1, 'a', new Date(5), { b: -0 }])],
    ['patterns', { p: /a\/[b]+$/giu }],
    ['bytes', new Uint8Array([0, 255, 10])],
    ['nested bytes', { list: [new Uint8Array([1, 2]), new Uint8Array()] }],
    ['buffers', { top: Buffer.from('top'), list: [Buffer.from([0, 200])] }],
    ['a buffer', Buffer.from([9, 8])],
    ['an object without prototype', { o: bare({ a: 1, $: ['date', 1] }), e: bare({}), d: bare({ $: 1 }) }],
    ['data shaped like a tag', { $: ['date', 0], x: { $: ['undefined'] }, y: { $: { $: ['map', []] } } }],
    ['an array shaped like a tag', ['$', ['date', 0]]],
    [
      'data shaped like a LangChain class',
      { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'AIMessage'], kwargs: {} },
    ],
    ['data shaped like an unknown class', { lc: 1, type: 'constructor', id: ['x', 'Y'], kwargs: {} }],
    ['data shaped like a secret', { lc: 1, type: 'secret', id: ['HOME'] }],
    ['data shaped like LangGraph’s records', { lc: 2, type: 'constructor', id: ['Set'], args: [[1]] }],
    ['data shaped like an undefined record', [{ lc: 2, type: 'undefined' }]],
    ['data shaped like a send', { lg_name: 'Send', node: 'x', args: {} }],
    ['an interrupt', [{ id: 'abc', value: { message: 'ok?' } }]],
    ['what LangGraph keeps of an error', { name: 'Error', message: 'x' }],
    ['an error', new Error('plain')],
    ['an error with a cause and properties', { failure }],
    [
      'a shared object',
      (() => {
        const shared = { a: 1 };
        return [shared, { shared }];
      })(),
    ],
    ['a send', new Send('work', { a: [new Date(1)] })],
    ['a send with a time limit', new Send('work', 1, { timeout: 500 })],
    ['an overwrite', new Overwrite(['a', new Set([1])])],
    ['a snapshot of a delta channel', new DeltaSnapshot(['a', new Date(0)])],
  ])('%s', async (_, value) => {
    expect(await roundTrip(value)).toStrictEqual(value);
    expect(await roundTrip({ inside: [value] })).toStrictEqual({ inside: [value] });
  });

  test.each([
    new Command({ update: { a: 1 }, resume: { x: undefined }, goto: ['a', new Send('b', 2)] }),
    new Command({ graph: Command.PARENT, goto: 'a' }),
    new Command({}),
  ])('a command %#', async (command) => {
    const copy = (await roundTrip([command])) as Command[];
    expect(copy[0]).toBeInstanceOf(Command);
    // Beside its fields a command keeps the arguments it was made with, under a symbol.
    const fieldsOf = (some: object | undefined): object => Object.fromEntries(Object.entries(some ?? {}));
    expect(fieldsOf(copy[0])).toStrictEqual(fieldsOf(command));
  });

  test('what is plain JSON is stored as exactly that', async () => {
    const value = { a: [1, 'é'], lc: 1 };
    const [type, bytes] = await serde.dumpsTyped(value);
    expect([type, Buffer.from(bytes).toString()]).toEqual(['plain', JSON.stringify(value)]);
  });

  test('an error keeps its class, stack, and cause where it has one', async () => {
    const error = new RangeError('x');
    const copy = (await roundTrip(error)) as Error;
    expect(copy).toBeInstanceOf(RangeError);
    expect(copy.stack).toBe(error.stack);
    expect(Object.hasOwn(copy, 'cause')).toBe(false);
    expect(Object.keys(copy)).toEqual([]);
    expect((await roundTrip(new Error('y', { cause: undefined }))) as Error).toHaveProperty(
      'cause',
      undefined,
    );
  });

  test('what the caller changes after the dump began is not stored', async () => {
    const bytes = new Uint8Array([1, 2]);
    const list = [1];
    const dumps = Promise.all([serde.dumpsTyped(bytes), serde.dumpsTyped(list)]);
    bytes[0] = 9;
    list.push(2);
    const [[, first], [, second]] = await dumps;
    expect([...first]).toEqual([1, 2]);
    expect(Buffer.from(second).toString()).toBe('[1]');
  });
});

describe('LangChain messages', () => {
  test('of another copy of LangChain are refused with the way to have one copy', async () => {
    const { HumanMessage: Another } = createRequire(import.meta.url)(
      '@langchain/core/messages',
    ) as typeof import('@langchain/core/messages');
    await expect(serde.dumpsTyped([new Another('hello')])).rejects.toMatchObject({
      code: 'VALUE_NOT_STORABLE',
      message: 'The value at $[0] cannot be stored: a HumanMessage of another copy of @langchain/core.',
      remedy: expect.stringContaining('npm dedupe'),
    });
    class Own extends HumanMessage {}
    const own = serde.dumpsTyped(new Own('hello'));
    await expect(own).rejects.toThrow('an instance of Own, which cannot be loaded');
  });

  const deep = { lc: 1, type: 'constructor', id: ['a'] };
  const calls = [{ name: 'search', args: { q: 'x', deep }, id: 'c1', type: 'tool_call' as const }];
  const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
  type Fields = ConstructorParameters<typeof AIMessage>[0];
  const messages = [
    new HumanMessage('hello'),
    new HumanMessage({ content: [{ type: 'text', text: 'x' }], id: 'h1', name: 'ada' }),
    new AIMessage({ content: 'x', usage_metadata: usage, tool_calls: calls } as unknown as Fields),
    new SystemMessage({
      content: 'sys',
      additional_kwargs: { note: { lc: 1, type: 'secret', id: ['HOME'] } },
    }),
    new ToolMessage({ content: 'result', tool_call_id: 'c1', status: 'success', artifact: { rows: [1] } }),
    new RemoveMessage({ id: 'h1' }),
  ];

  /** Without the constructor's arguments, which LangChain keeps beside the fields they became. */
  const fields = (message: object): object => ({ ...message, lc_kwargs: null });

  test.each(messages.map((message, at) => [`${message.constructor.name} ${at}`, message] as const))(
    '%s comes back as one',
    async (_, message) => {
      const copy = (await roundTrip({ list: [message] })) as { list: object[] };
      const [revived = {}] = copy.list;
      expect(revived.constructor).toBe(message.constructor);
      expect(fields(revived)).toStrictEqual(fields(message));
    },
  );

  const artifact = (value: unknown) =>
    new ToolMessage({ content: 'result', tool_call_id: 'c1', artifact: value });
  test.each<[string, () => object]>([
    ['a map', () => artifact(new Map<unknown, unknown>([['rows', new Set([1, new Date(2)])]]))],
    ['what is deeper in', () => artifact({ rows: [{ at: new Date(0), by: undefined, n: -0 }] })],
    ['bytes, patterns, errors', () => artifact([new Uint8Array([1]), /x/g, new RangeError('x')])],
    ['a document', () => artifact({ found: [new Document({ pageContent: 'x', metadata: { n: 1 } })] })],
    ['messages beside it', () => artifact({ of: new Map([['m', new AIMessage('x')]]) })],
    ['data shaped like a class', () => artifact({ deep, at: new Date(1) })],
    [
      'additional fields',
      () => new AIMessage({ content: 'x', additional_kwargs: { at: new Date(0) }, tool_calls: calls }),
    ],
    ['metadata', () => new AIMessage({ content: 'x', response_metadata: { model: 'm', stop: undefined } })],
    ['content', () => new HumanMessage({ content: [{ type: 'text', text: 'x', note: undefined }] })],
  ])('%s in a message comes back equal, and as often as it is written', async (_, make) => {
    const message = make();
    const copy = (await roundTrip(await roundTrip({ list: [message] }))) as { list: object[] };
    const [revived = {}] = copy.list;
    expect(revived.constructor).toBe(message.constructor);
    expect(fields(revived)).toStrictEqual(fields(message));
  });

  test('a message without such a field is written as it always was', async () => {
    const [, bytes] = await serde.dumpsTyped(messages[4]);
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({
      $: [
        'langchain',
        { id: ['langchain_core', 'messages', 'ToolMessage'], kwargs: { artifact: { rows: [1] } } },
      ],
    });
  });

  test('what cannot be stored in an artifact is refused where it is', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    expect(await refusalOf([artifact({ call: new Map([['f', () => 1]]) })])).toEqual({
      code: 'VALUE_NOT_STORABLE',
      path: '$[0].artifact.call[0][1]',
    });
    expect(await refusalOf([artifact(cyclic)])).toEqual({
      code: 'VALUE_NOT_STORABLE',
      path: '$[0].artifact.self',
    });
  });

  test('a changed field is stored, or refused where LangChain leaves it out', async () => {
    const message = new AIMessage({ content: 'x', id: 'a' });
    await roundTrip(message);
    message.content = 'y';
    expect(await roundTrip(message)).toMatchObject({ content: 'y', id: 'a' });
    const plain = new AIMessage('x');
    plain.id = 'set later';
    const copy = await roundTrip(plain).catch(() => plain);
    expect((copy as AIMessage).id).toBe('set later');
  });

  test('messages in maps, sends and updates come back in their places', async () => {
    const value = new Map([['m', [new Send('x', { messages: [new HumanMessage('a')] })]]]);
    const copy = (await roundTrip(value)) as typeof value;
    expect(copy.get('m')?.[0]).toBeInstanceOf(Send);
    expect(copy.get('m')?.[0]?.args.messages[0]).toBeInstanceOf(HumanMessage);
  });

  test('a class that LangChain cannot load, or that loses a field, is refused at write', async () => {
    class Own extends HumanMessage {
      static override lc_name(): string {
        return 'OwnMessage';
      }
    }
    class Losing extends HumanMessage {}
    for (const message of [new Own('x'), new Losing('x')]) {
      expect(await refusalOf({ messages: [message] })).toEqual({
        code: 'VALUE_NOT_STORABLE',
        path: '$.messages[0]',
      });
    }
  });
});

describe('what is refused', () => {
  const cycle: { self?: unknown } = {};
  cycle.self = { back: [cycle] };
  class Money {
    readonly amount = 1;
  }
  const hidden = Object.defineProperty({}, 'toJSON', { value: () => 'other', enumerable: false });
  const used = /a/g;
  used.lastIndex = 1;
  test.each<[string, unknown, string]>([
    ['NaN', { n: Number.NaN }, '$.n'],
    ['Infinity', [Number.POSITIVE_INFINITY], '$[0]'],
    ['a bigint', { n: 1n }, '$.n'],
    ['a function', { a: [{ f: () => 1 }] }, '$.a[0].f'],
    ['a symbol', [Symbol('s')], '$[0]'],
    ['a symbol as a key', { [Symbol('k')]: 1 }, '$'],
    ['a cycle', cycle, '$.self.back[0]'],
    ['a hole', { a: new Array(3) }, '$.a'],
    ['a match of a pattern', { m: /b/.exec('abc') }, '$.m'],
    ['an instance', { price: new Money() }, '$.price'],
    ['an array of an own class', new (class extends Array {})(), '$'],
    ['a map with a property', Object.assign(new Map(), { x: 1 }), '$'],
    ['an error of an own class', new (class Own extends Error {})('x'), '$'],
    ['an error with a hidden property', Object.defineProperty(new Error('x'), 'secret', { value: 1 }), '$'],
    ['a promise', { p: Promise.resolve(1) }, '$.p'],
    ['other views of bytes', { f: new Float64Array(2) }, '$.f'],
    ['an invalid date', new Date(Number.NaN), '$'],
    ['a pattern in use', used, '$'],
    ['a boxed number', Object(1), '$'],
    ['a lone surrogate', { text: 'a\ud800b' }, '$.text'],
    ['a lone surrogate in a key', { '\udc00': 1 }, '$'],
    ['a key __proto__', JSON.parse('{"a":{"__proto__":{"approved":true}}}'), '$.a'],
    ['a key constructor', { constructor: 1 }, '$'],
    ['a key prototype', [{ prototype: 1 }], '$[0]'],
    ['a hidden toJSON', hidden, '$'],
    [
      'a toJSON that throws',
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
      '$.toJSON',
    ],
    [
      'a getter that throws',
      {
        get x(): number {
          throw new Error('no');
        },
      },
      '$',
    ],
    ['something inside a map', { m: new Map([['k', [1n]]]) }, '$.m[0][1][0]'],
    ['something inside a send', new Send('x', { f: () => 1 }), '$.args.f'],
    [
      'another class with a name for LangGraph',
      new (class {
        lg_name = 'Other';
      })(),
      '$',
    ],
  ])('%s', async (_, value, path) => {
    expect(await refusalOf(value)).toEqual({ code: 'VALUE_NOT_STORABLE', path });
  });

  test('a value deeper than the limit, with its path cut short', async () => {
    let deep: unknown = 0;
    for (let level = 0; level < 100_000; level += 1) deep = { deeper: deep };
    const refusal = await refusalOf(deep);
    expect(refusal.code).toBe('VALUE_TOO_LARGE');
    expect(String(refusal.path).length).toBeLessThanOrEqual(200);
    const three = new StrictSerde({ maxDepth: 3 });
    expect(await three.dumpsTyped([[[1]]])).toBeDefined();
    expect((await refusalOf([[[[1]]]], three)).code).toBe('VALUE_TOO_LARGE');
    expect(() => new StrictSerde({ maxDepth: 0 })).toThrow(RangeError);
  });
});

describe('reading', () => {
  test('refuses kinds and tags it does not know', async () => {
    await expect(serde.loadsTyped('json', '{}')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    for (const text of ['{"$":["later",1]}', '{"$":["toString"]}', '{"$":[]}', '{"$":[7]}']) {
      await expect(serde.loadsTyped('tagged', text)).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
    }
  });

  test('takes texts as LangGraph’s interface allows', async () => {
    expect(await serde.loadsTyped('plain', '{"a":1}')).toEqual({ a: 1 });
    expect(await serde.loadsTyped('bytes', 'a')).toEqual(new Uint8Array([97]));
  });
});

describe('any value', () => {
  const RUNS = howMany('DEVS_GENERATED_VALUES', 3_000);
  const wild = fc.object({
    maxDepth: 4,
    key: fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('$', 'lc', 'type', 'id', 'toJSON', '__proto__', 'constructor'),
    ),
    values: [
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }),
      fc.double(),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom<unknown>(null, undefined, -0, 'constructor', 'undefined', 1, 2, ['date', 0]),
      fc.date(),
      fc.uint8Array({ maxLength: 5 }),
      fc.bigInt(),
      fc.constant(Symbol('s')),
      fc.func(fc.boolean()),
      fc.sparseArray(fc.integer(), { maxLength: 3 }),
    ],
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  });

  test(`comes back equal or is refused (${RUNS} values)`, { timeout: 60_000 + RUNS * 10 }, async () => {
    const outcome = { equal: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(wild, fc.anything({ withDate: true, withMap: true, withSet: true }), fc.jsonValue()),
        async (value) => {
          const copy = await roundTrip(value).catch((error: unknown) => {
            if (isDevsError(error, 'VALUE_NOT_STORABLE')) return refused;
            throw error;
          });
          outcome[copy === refused ? 'refused' : 'equal'] += 1;
          if (copy !== refused) expect(copy).toStrictEqual(value);
        },
      ),
      { numRuns: RUNS },
    );
    expect(outcome.equal).toBeGreaterThan(RUNS / 10);
    expect(outcome.refused).toBeGreaterThan(RUNS / 10);
  });

  const refused = Symbol('refused');
});
