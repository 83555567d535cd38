import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, Command, END, interrupt, type NodeError, START, StateGraph } from '@langchain/langgraph';
import type { Program, Programs } from './Program.ts';
import { Log } from './states.ts';
import type { World } from './World.ts';

class OwnError extends Error {
  override name = 'OwnError';
}

const QUICK = { initialInterval: 1, jitter: false, logWarning: false } as const;

/** A call, then `risky`, then a call. */
const around = (risky: (world: World) => unknown, options: object = {}): Program => ({
  input: { log: ['begun'] },
  build: (world) =>
    new StateGraph(Log)
      .addNode('before', async () => ({ log: [await world.effect('before', 'before')] }))
      .addNode('risky', (() => risky(world)) as () => object, { ...options, ends: ['after', 'rescue'] })
      .addNode('after', async () => ({ log: [await world.effect('after', 'after')] }))
      .addNode('rescue', async () => ({ log: [await world.effect('rescue', 'rescue')] }))
      .addEdge(START, 'before')
      .addEdge('before', 'risky')
      .addEdge('risky', 'after')
      .addEdge('after', END),
});

const throwing = (thrown: unknown): Program =>
  around(async (world) => {
    await world.effect('risky', 'risky');
    throw thrown;
  });

const flaky = (times: number, maxAttempts: number): Program =>
  around(
    async (world) => {
      const first = await world.effect('first', 'first of risky');
      if (world.isDown('risky', times)) throw new OwnError('It is down.');
      return { log: [first, await world.effect('second', 'second of risky')] };
    },
    { retryPolicy: { ...QUICK, maxAttempts, retryOn: () => true } },
  );

const handled = (handler: (world: World, error: NodeError) => unknown): Program => ({
  input: { log: ['begun'] },
  build: (world) => {
    const builder = new StateGraph(Log).addNode('before', async () => ({
      log: [await world.effect('before', 'before')],
    }));
    const errorHandler = ((_state: unknown, error: NodeError) => handler(world, error)) as never;
    return builder
      .addNode(
        'risky',
        async () => {
          await world.effect('risky', 'risky');
          throw new OwnError('It broke.');
        },
        { errorHandler, ends: ['after', 'rescue'] },
      )
      .addNode('after', async () => ({ log: [await world.effect('after', 'after')] }))
      .addNode('rescue', async () => ({ log: [await world.effect('rescue', 'rescue')] }))
      .addEdge(START, 'before')
      .addEdge('before', 'risky')
      .addEdge('risky', 'after');
  },
});

const Strict = Annotation.Root({
  total: Annotation<number>({
    reducer: (left, right) => {
      if (right < 0) throw new OwnError('No negative amounts.');
      return left + right;
    },
    default: () => 0,
  }),
  one: Annotation<string>(),
});

const inReducer: Program = {
  input: { total: 1 },
  build: (world) =>
    new StateGraph(Strict)
      .addNode('pay', async () => {
        await world.effect('pay', 'pay');
        return { total: -5 };
      })
      .addEdge(START, 'pay'),
};

/** Two branches write what only one may. */
const clash: Program = {
  input: {},
  build: (world) => {
    const write = (one: string) => async () => {
      await world.effect('write', `write ${one}`);
      return { one };
    };
    return new StateGraph(Strict)
      .addNode('left', write('left'))
      .addNode('right', write('right'))
      .addEdge(START, 'left')
      .addEdge(START, 'right');
  },
};

/** Breaks once the question is kept: LangGraph drops the question of a branch that is slower than the error. */
const besideAQuestion: Program = {
  input: {},
  build: (world) => {
    let asked = (): void => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    return new StateGraph(Log)
      .addNode('asks', async () => {
        await world.effect('asks', 'asks');
        asked();
        return { last: interrupt('Well?') };
      })
      .addNode('breaks', async () => {
        await world.effect('breaks', 'breaks');
        await isAsked;
        await sleep(100);
        throw new OwnError('Broken.');
      })
      .addEdge(START, 'asks')
      .addEdge(START, 'breaks');
  },
};

const inSubgraph: Program = {
  input: {},
  build: (world) => {
    const inner = new StateGraph(Log)
      .addNode('breaks', async () => {
        await world.effect('inner', 'inner');
        throw new OwnError('Broken inside.', { cause: new Error('Deep down.') });
      })
      .addEdge(START, 'breaks')
      .compile();
    return new StateGraph(Log).addNode('inner', inner).addEdge(START, 'inner');
  },
};

/** The node that calls a subgraph goes on without it. */
const caught: Program = {
  input: {},
  build: (world) => {
    const inner = new StateGraph(Log)
      .addNode('breaks', async () => {
        await world.effect('inner', 'inner');
        throw new OwnError('Broken inside.');
      })
      .addEdge(START, 'breaks')
      .compile();
    return new StateGraph(Log)
      .addNode('call', async () => {
        const said = await inner.invoke({}).then(
          () => 'went well',
          (error: Error) => `${error.name}: ${error.message}`,
        );
        return { log: [said, await world.effect('after', 'after')] };
      })
      .addEdge(START, 'call');
  },
};

/** Answered, and then it breaks once. */
const afterAnAnswer: Program = {
  input: {},
  answer: () => 'go on',
  build: (world) =>
    new StateGraph(Log)
      .addNode(
        'asks',
        async () => {
          const before = await world.effect('before', 'before');
          const said = interrupt<string, string>('Well?');
          if (world.isDown('asks', 1)) throw new OwnError('It is down.');
          return { log: [before, said, await world.effect('after', `after ${said}`)] };
        },
        { retryPolicy: { ...QUICK, maxAttempts: 3, retryOn: () => true } },
      )
      .addEdge(START, 'asks'),
};

const inEdge: Program = {
  input: {},
  build: (world) =>
    new StateGraph(Log)
      .addNode('only', async () => ({ log: [await world.effect('only', 'only')] }))
      .addEdge(START, 'only')
      .addConditionalEdges('only', () => {
        throw new OwnError('Which way?');
      }),
};

export const errors: Programs = {
  'a node throws': throwing(new OwnError('Broken.')),
  'a node throws with a cause': throwing(new TypeError('Broken.', { cause: new Error('Deep.') })),
  'a node throws a text': throwing('just a text'),
  'a node returns a text': around(async (world) => world.effect('risky', 'risky')),
  'a node returns a number': around(() => 7),
  'a node returns nothing': around(() => undefined),
  'a node fails once and is retried': flaky(1, 3),
  'a node fails twice and is retried': flaky(2, 3),
  'a node fails too often': flaky(9, 2),
  'an answered node fails once and is retried': afterAnAnswer,
  'an error handler goes on': handled(async (world, { node, error }) => ({
    log: [await Promise.resolve(`${node}: ${(error as Error).message}`)],
    last: world.isDown('nobody', 0),
  })),
  'an error handler goes elsewhere': handled(
    (_world, { error }) => new Command({ goto: 'rescue', update: { last: (error as Error).name } }),
  ),
  'an error handler throws': handled(() => {
    throw new OwnError('Worse.');
  }),
  'a reducer throws': inReducer,
  'two branches write one value': clash,
  'a branch breaks beside a question': besideAQuestion,
  'a subgraph throws': inSubgraph,
  'a subgraph throws and its caller goes on': caught,
  'an edge throws': inEdge,
};
