import { AsyncResource } from 'node:async_hooks';
import { HumanMessage } from '@langchain/core/messages';
import { Command, GraphInterrupt, interrupt, Overwrite, Send } from '@langchain/langgraph';
import { progress } from '../../src/engine/node/nodeContext.ts';
import { step } from '../../src/engine/node/step.ts';
import { child, sleep, waitFor } from '../../src/engine/node/waitFor.ts';
import { DevsError, type ErrorCode } from '../../src/errors/DevsError.ts';
import { canonicalJson } from '../../src/values/canonicalJson.ts';
import {
  besideIt,
  breakingAChannel,
  type Here,
  handledBy,
  inside,
  inTool,
  type Mistake,
  type Node,
  tries,
  withEdge,
  withOptions,
} from './graphs.ts';
import { deep, LARGE, looped, ofOwnDatabase, Plan, unreadable } from './values.ts';

type Mistakes = Readonly<Record<string, Mistake>>;

const SMALL = { valueBytes: 20_000 };

const ours = (code: ErrorCode): DevsError => new DevsError(`It says ${code}.`, { code, remedy: 'None.' });

/** A node that returns what cannot be stored. */
const returned = (value: unknown, path: string): Mistake => ({
  node: () => ({ value }),
  code: 'VALUE_NOT_STORABLE',
  path,
});

const failing =
  (thrown: () => unknown): (() => never) =>
  () => {
    throw thrown();
  };

const thrown = (what: () => unknown, says: string): Mistake => ({ node: failing(what), says });

/** An error of ours that a node throws, whatever its code says. */
const said = (code: ErrorCode): Mistake => ({ node: failing(() => ours(code)), code });

/** A node that awaits what is refused, and returns nothing. */
const awaiting =
  (work: (here: Here) => unknown): Node =>
  async (here) => {
    await work(here);
    return {};
  };

const storing = (use: (store: NonNullable<Here['config']['store']>) => Promise<unknown>): Node =>
  awaiting(({ config: { store } }) => use(store as NonNullable<typeof store>));

const putNaN = storing((store) => store.put(['a'], 'k', { n: Number.NaN }));

const RETURNS: Mistakes = {
  'returns NaN': returned(Number.NaN, 'value'),
  'returns an infinity': returned({ price: [{ usd: Number.POSITIVE_INFINITY }] }, 'value.price[0].usd'),
  'returns a URL': returned({ link: new URL('https://example.com') }, 'value.link'),
  'returns an instance': returned({ plan: new Plan() }, 'value.plan'),
  'returns a function': returned({ onDone: () => 1 }, 'value.onDone'),
  'returns a symbol': returned([1, Symbol('s')], 'value[1]'),
  'returns a bigint': returned({ n: 1n }, 'value.n'),
  'returns a promise': returned({ later: Promise.resolve(1) }, 'value.later'),
  'returns a weak map': returned(new WeakMap(), 'value'),
  'returns a date that is none': returned({ at: new Date(Number.NaN) }, 'value.at'),
  'returns a list with holes': returned({ list: new Array(3) }, 'value.list'),
  'returns half a character': returned(['\ud800'], 'value[0]'),
  'returns a key of the prototype': returned(JSON.parse('{"a":{"__proto__":1}}'), 'value.a'),
  'returns what contains itself': {
    node: () => ({ value: { in: looped } }),
    code: ['VALUE_NOT_STORABLE', 'VALUE_TOO_LARGE'],
  },
  'returns 5,000 levels': { node: () => ({ value: deep(5000) }), code: 'VALUE_TOO_LARGE' },
  'returns too much': {
    node: () => ({ value: LARGE }),
    limits: SMALL,
    code: 'VALUE_TOO_LARGE',
    says: '"value"',
  },
  'returns a message with a URL': {
    node: () => ({
      messages: ['one', [{ type: 'image', image: new URL('https://example.com/a.png') }]].map(
        (content) => new HumanMessage({ content } as never),
      ),
    }),
    code: 'VALUE_NOT_STORABLE',
    path: 'messages[1].content[0].image',
  },
  'returns what cannot be read': {
    node: () => ({
      value: {
        get a() {
          throw new RangeError('no a');
        },
      },
    }),
  },
  'returns a message of nobody': { node: () => ({ messages: [{ role: 'nobody', content: 'x' }] }), again: 0 },
  'returns a text': { node: () => 'done', says: 'work' },
  'returns a list': { node: () => [1, 2] },
  'returns a score that is none': {
    node: () => ({ __metadata__: { entropyScore: 7 } }),
    says: 'entropyScore',
  },
  'returns an Overwrite of it': {
    node: () => ({ value: new Overwrite({ n: Number.NaN }) }),
    code: 'VALUE_NOT_STORABLE',
  },
  'returns a Command with it': {
    node: () => new Command({ update: { value: { f: () => 1 } } }),
    code: 'VALUE_NOT_STORABLE',
    path: 'value.f',
  },
  'sends what cannot be stored': {
    node: () => new Command({ goto: [new Send('work', { link: new URL('https://example.com') })] }),
    code: 'VALUE_NOT_STORABLE',
    path: 'Send.args.link',
  },
  'sends to nowhere': { node: () => new Command({ goto: [new Send('nowhere', {})] }), says: 'nowhere' },
};

const CHANNELS: Mistakes = {
  'breaks a channel': {
    node: failing(() => new Error('full')),
    graph: breakingAChannel,
    says: 'full',
    again: 0,
  },
  'makes its reducer give NaN': {
    node: () => ({ sum: Number.MAX_VALUE }),
    graph: besideIt(() => ({ sum: Number.MAX_VALUE })),
    code: 'VALUE_NOT_STORABLE',
    path: 'sum',
    again: 0,
  },
  'makes its reducer throw': { node: () => ({ strict: new Error('full') }), says: 'full', again: 0 },
  'writes what another writes': {
    node: () => ({ value: 1 }),
    graph: besideIt(() => ({ value: 2 })),
    says: 'value',
    again: 0,
  },
};

const EDGES: Mistakes = {
  'has an edge that throws': {
    node: () => ({}),
    graph: withEdge(failing(() => new Error('lost'))),
    says: 'lost',
  },
  'has an edge that throws ours': {
    node: () => ({}),
    graph: withEdge(() => canonicalJson({ n: Number.NaN })),
    code: 'VALUE_NOT_STORABLE',
  },
  'has an edge that takes a step': {
    node: () => ({}),
    graph: withEdge(() => step('s', () => 1)),
    says: 'step()',
  },
  'has an edge that makes progress': { node: () => ({}), graph: withEdge(progress), says: 'progress()' },
  'has an edge to nowhere': { node: () => ({}), graph: withEdge(() => 'nowhere') },
  'has an edge to nothing': { node: () => ({}), graph: withEdge(() => undefined) },
  'has an edge that sends it': {
    node: () => ({}),
    graph: withEdge(() => [new Send('next', { f: () => 1 })]),
    code: 'VALUE_NOT_STORABLE',
    path: 'Send.args.f',
  },
};

const THROWS: Mistakes = {
  throws: thrown(() => new Error('plain'), 'plain'),
  'throws undefined': thrown(() => undefined, 'undefined'),
  'throws null': thrown(() => null, 'null'),
  'throws a text': thrown(() => 'quota', 'quota'),
  'throws a number': thrown(() => 429, '429'),
  'throws a symbol': thrown(() => Symbol('gone'), 'gone'),
  'throws an object': thrown(() => ({ status: 503 }), '503'),
  'throws a frozen error': thrown(() => Object.freeze(new RangeError('cold')), 'cold'),
  'throws a frozen error of ours': {
    node: failing(() => Object.freeze(ours('PATH_REFUSED'))),
    code: 'PATH_REFUSED',
  },
  'throws an error without a message': thrown(() => unreadable('message'), 'cannot be read'),
  'throws an error without a name': thrown(() => unreadable('name'), 'hidden'),
  'throws an error without a cause': thrown(() => unreadable('cause'), 'hidden'),
  'throws a cause that is its own': thrown(
    () => Object.assign(new Error('round'), { cause: looped }),
    'round',
  ),
  'throws half a character': thrown(() => new Error('half \ud800'), 'half'),
  'throws 8 MB': thrown(() => new Error('long line '.repeat(800_000)), 'long line'),
  'throws several': thrown(
    () => new AggregateError([new Error('one'), ours('DAG_INVALID')], 'two'),
    'DAG_INVALID',
  ),
  'throws an interrupt of nothing': {
    ...thrown(() => new GraphInterrupt([]), 'NO_PROGRESS'),
    works: 2, // the first time may have been on its way to somewhere
    again: 1,
  },
  'says that an agent failed': said('AGENT_FAILED'),
  'says that a setting is wrong': said('CONFIG_INVALID'),
  'says that a folder is busy': said('WORKSPACE_BUSY'),
  'says that a sandbox is missing': said('SANDBOX_MISSING'),
  'says that a run is busy': said('THREAD_BUSY'),
  'has a full database of its own': thrown(ofOwnDatabase, 'full'),
  'throws beside another that does': {
    node: failing(() => ours('DAG_INVALID')),
    graph: besideIt(failing(() => new Error('beside'))),
    says: 'DAG_INVALID',
  },
};

const HANDLED: Mistakes = {
  'is tried three times': {
    node: putNaN,
    graph: withOptions(tries(3)),
    works: 3,
    code: 'VALUE_NOT_STORABLE',
  },
  'throws a text three times': {
    node: failing(() => 'quota'),
    graph: withOptions(tries(3)),
    works: 3,
    says: 'quota',
  },
  'has a handler that throws ours': {
    node: putNaN,
    graph: withOptions({ errorHandler: failing(() => ours('PATH_REFUSED')) }),
    code: 'PATH_REFUSED',
    again: 0,
  },
  'has a handler that returns NaN': {
    node: putNaN,
    graph: handledBy(() => ({ value: Number.NaN })),
    code: 'VALUE_NOT_STORABLE',
    path: 'value',
    again: 0,
  },
};

const ASKS: Mistakes = {
  'asks a function': { node: () => ({ value: interrupt(() => 1) }), code: 'VALUE_NOT_STORABLE' },
  'asks NaN': { node: () => ({ value: interrupt({ n: Number.NaN }) }), code: 'VALUE_NOT_STORABLE' },
  'asks too much': { node: () => ({ value: interrupt(LARGE) }), limits: SMALL, code: 'VALUE_TOO_LARGE' },
  'has a gate that shows a function': {
    node: () => ({}),
    gate: () => () => 1,
    works: 0,
    code: 'VALUE_NOT_STORABLE',
  },
  'has a gate that shows too much': {
    node: () => ({}),
    limits: SMALL,
    gate: () => LARGE,
    works: 0,
    code: 'VALUE_TOO_LARGE',
  },
  'has a gate that throws what cannot be read': {
    node: () => ({}),
    gate: failing(() => unreadable('name')),
    works: 0,
    says: 'hidden',
  },
  'has a gate that throws': {
    node: () => ({}),
    gate: failing(() => new Error('dark')),
    works: 0,
    says: 'dark',
  },
};

const WAITS: Mistakes = {
  'waits for no name': { node: awaiting(() => waitFor('')), says: 'signal' },
  'waits for a number': { node: awaiting(() => waitFor(5 as never)), says: 'signal' },
  'waits for NaN': { node: awaiting(() => waitFor('paid', { within: Number.NaN })) },
  'sleeps for NaN': { node: awaiting(() => sleep(Number.NaN)) },
  'sleeps backwards': { node: awaiting(() => sleep(-1)) },
  'sleeps in a step': { node: awaiting(() => step('nap', () => sleep(1000))), says: 'inside a step' },
};

const childOf = (id: (here: Here) => unknown, input: unknown = {}, app?: unknown): Mistake['node'] =>
  awaiting((here) => child((app ?? here.app) as never, id(here) as string, input as never));

/** From where a pool of workers or a queue calls: outside of the node that has asked for it. */
const queue = new AsyncResource('queue');

const callsItself = ({ app, id }: Here): Promise<unknown> =>
  queue.runInAsyncScope(async () => app?.graph.invoke({}, { configurable: { thread_id: id } }));

const CHILDREN: Mistakes = {
  'is its own child': { node: childOf(({ id }) => id), code: 'CHILD_NOT_TAKEN' },
  'has a child without an id': { node: childOf(() => ''), says: 'The id of a run must not be empty.' },
  'has a child of no app': { node: childOf(({ id }) => `${id}/c`, {}, {}) },
  'has a child with NaN': {
    node: childOf(({ id }) => `${id}/c`, { value: Number.NaN }),
    code: 'VALUE_NOT_STORABLE',
  },
  "has another run's child": { node: childOf(() => 'returns NaN'), code: 'CHILD_NOT_TAKEN' },
  'calls its graph under its own id': {
    node: awaiting(callsItself),
    code: 'LEASE_LOST',
  },
  'calls its graph under its own id in a step': {
    node: awaiting((here) => step('call', () => callsItself(here))),
    code: 'LEASE_LOST',
  },
  'drives its own run': {
    node: awaiting(({ app, id }) => app?.run(id) ?? step('', () => 1)),
    code: 'THREAD_BUSY',
  },
};

const STORES: Mistakes = {
  'searches by meaning': {
    node: storing((store) => store.search(['a'], { query: 'x' })),
    code: 'STORE_UNSUPPORTED',
  },
  'puts NaN': { node: putNaN, code: 'VALUE_NOT_STORABLE' },
  'puts too much': {
    node: storing((store) => store.put(['a'], 'k', { text: LARGE })),
    limits: SMALL,
    code: 'VALUE_TOO_LARGE',
  },
  'puts what contains itself': {
    node: storing((store) => store.put(['a'], 'k', looped)),
    code: ['VALUE_NOT_STORABLE', 'VALUE_TOO_LARGE'],
  },
  'puts nowhere': { node: storing((store) => store.put([], 'k', {})) },
  'puts under a number': { node: storing((store) => store.put(['a'], 5 as never, {})) },
  'lists a page that is none': { node: storing((store) => store.search(['a'], { limit: -1 })) },
  'puts NaN in a step': {
    node: awaiting(({ config: { store } }) => step('put', () => store?.put(['a'], 'k', { n: Number.NaN }))),
    code: 'VALUE_NOT_STORABLE',
  },
  'puts NaN in a tool': { node: putNaN, graph: inTool, code: 'VALUE_NOT_STORABLE' },
};

const WRITES: Mistakes = {
  'streams 20 MB': {
    node: awaiting(({ config }) => config.writer?.('x'.repeat(20_000_000))),
    code: 'VALUE_TOO_LARGE',
  },
  'streams a function': {
    node: awaiting(({ config }) => config.writer?.(() => 1)),
    code: 'VALUE_NOT_STORABLE',
  },
  'streams an instance': {
    node: awaiting(({ config }) => config.writer?.(new Plan())),
    code: 'VALUE_NOT_STORABLE',
  },
  'streams a message with a URL': {
    node: awaiting(({ config }) =>
      config.writer?.(
        new HumanMessage({ content: [{ type: 'image', image: new URL('https://example.com') }] } as never),
      ),
    ),
    code: 'VALUE_NOT_STORABLE',
  },
};

const STEPS: Mistakes = {
  'takes a step of a function': {
    node: awaiting(() => step('make', () => () => 1)),
    code: 'VALUE_NOT_STORABLE',
  },
  'takes a step of it three times': {
    node: awaiting(() => step('make', () => ({ plan: new Plan() }))),
    graph: withOptions(tries(3)),
    code: 'VALUE_NOT_STORABLE',
  },
  'takes a step without a name': { node: awaiting(() => step('', () => 1)), says: 'step name' },
  'takes a step twice': {
    node: awaiting(async () => [await step('a', () => 1), await step('a', () => 2)]),
    says: 'already used',
  },
  'takes a step that throws ours': {
    node: awaiting(() =>
      step(
        'a',
        failing(() => ours('WORKSPACE_FAILED')),
      ),
    ),
    code: 'WORKSPACE_FAILED',
  },
  'takes a step with a full database': {
    node: awaiting(() =>
      step('a', () => {
        throw ofOwnDatabase();
      }),
    ),
    says: 'full',
  },
};

const INSIDE: Mistakes = {
  'returns NaN in a graph inside': {
    node: () => ({ value: Number.NaN }),
    graph: inside,
    code: 'VALUE_NOT_STORABLE',
    path: 'value',
  },
  'puts NaN in a graph inside': { node: putNaN, graph: inside, code: 'VALUE_NOT_STORABLE' },
  'takes a step of it in a graph inside': {
    node: awaiting(() => step('make', () => new Plan())),
    graph: inside,
    code: 'VALUE_NOT_STORABLE',
  },
  'returns NaN beside another': {
    node: () => ({ value: Number.NaN }),
    graph: besideIt(() => ({})),
    code: 'VALUE_NOT_STORABLE',
    path: 'value',
  },
};

/** By what the node does, or what is around it. */
export const MISTAKES: Mistakes = {
  ...RETURNS,
  ...CHANNELS,
  ...EDGES,
  ...THROWS,
  ...HANDLED,
  ...ASKS,
  ...WAITS,
  ...CHILDREN,
  ...STORES,
  ...WRITES,
  ...STEPS,
  ...INSIDE,
};
