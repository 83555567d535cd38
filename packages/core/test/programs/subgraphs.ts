import { Annotation, Command, END, interrupt, Send, START, StateGraph } from '@langchain/langgraph';
import type { Program, Programs } from './Program.ts';
import { Inner, Log } from './states.ts';
import type { World } from './World.ts';

/** Two nodes that make a call of the same name, a question between them where one is wanted. */
const posting = (world: World, asks: boolean) =>
  new StateGraph(Log)
    .addNode('charge', async (state) => {
      world.visit('charge', state);
      return { log: [await world.effect('post', 'charge')] };
    })
    .addNode('ask', () => ({ last: asks ? interrupt('Send the mail?') : 'not asked' }))
    .addNode('mail', async ({ last }) => ({
      log: [await world.effect('post', `mail after ${String(last)}`)],
    }))
    .addEdge(START, 'charge')
    .addEdge('charge', 'ask')
    .addEdge('ask', 'mail')
    .addEdge('mail', END)
    .compile();

const shared = (asks: boolean): Program => ({
  input: { log: ['begun'] },
  build: (world) =>
    new StateGraph(Log)
      .addNode('before', async () => ({ log: [await world.effect('post', 'before')] }))
      .addNode('inner', posting(world, asks))
      .addNode('after', async ({ log }) => ({ last: await world.effect('post', `after ${log.length}`) }))
      .addEdge(START, 'before')
      .addEdge('before', 'inner')
      .addEdge('inner', 'after')
      .addEdge('after', END),
});

const asking = (world: World, question: string) =>
  new StateGraph(Inner)
    .addNode('look', async ({ word }) => ({ log: [await world.effect('look', `look for ${word}`)] }))
    .addNode('ask', ({ word }) => ({ word: interrupt<string, string>(`${question} ${word}`) }))
    .addNode('take', async ({ word }) => ({ log: [await world.effect('look', `take ${word}`)] }))
    .addEdge(START, 'look')
    .addEdge('look', 'ask')
    .addEdge('ask', 'take')
    .addEdge('take', END)
    .compile();

/** Called in a node, whose state is another. */
const transformed: Program = {
  input: { last: 'Bern' },
  answer: (asked) => `(${String(asked)})`,
  build: (world) => {
    const inner = asking(world, 'Which?');
    return new StateGraph(Log)
      .addNode('call', async ({ last }) => {
        const before = await world.effect('before', 'before');
        const { log, word } = await inner.invoke({ word: String(last) });
        return { log: [before, ...log, await world.effect('after', `after ${word}`)], last: word };
      })
      .addEdge(START, 'call')
      .addEdge('call', END);
  },
};

/** A graph in a graph in a graph: in the middle one as a node, in the outer one called. */
const nestedTwice: Program = {
  input: { last: 'x' },
  answer: (asked) => `(${String(asked)})`,
  build: (world) => {
    const middle = new StateGraph(Inner)
      .addNode('deep', asking(world, 'Deep?'))
      .addNode('again', async ({ word }) => ({ log: [await world.effect('look', `middle ${word}`)] }))
      .addEdge(START, 'deep')
      .addEdge('deep', 'again')
      .addEdge('again', END)
      .compile();
    return new StateGraph(Log)
      .addNode('call', async ({ last }) => {
        const { log, word } = await middle.invoke({ word: String(last) });
        return { log, last: word };
      })
      .addNode('shared', posting(world, true))
      .addEdge(START, 'call')
      .addEdge('call', 'shared')
      .addEdge('shared', END);
  },
};

const inParallel: Program = {
  input: {},
  answer: (asked) => `(${String(asked)})`,
  build: (world) => {
    const inner = asking(world, 'Which?');
    const call = (word: string) => async () => {
      const { log } = await inner.invoke({ word });
      return { log };
    };
    return new StateGraph(Log)
      .addNode('left', call('left'))
      .addNode('right', call('right'))
      .addNode('join', async ({ log }) => ({ last: await world.effect('join', `join ${log.length}`) }))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .addEdge(['left', 'right'], 'join')
      .addEdge('join', END);
  },
};

/** A loop inside: the same node, the same name, each turn another place. */
const loopInside: Program = {
  input: {},
  answer: (asked) => Number(String(asked).at(-1)) < 2,
  build: (world) => {
    const Turns = Annotation.Root({ ...Log.spec, turn: Annotation<number>() });
    const inner = new StateGraph(Turns)
      .addNode('work', async ({ turn = 0 }) => ({
        turn: turn + 1,
        log: [await world.effect('work', `work ${turn}`)],
      }))
      .addNode(
        'ask',
        ({ turn }) => new Command({ goto: interrupt<string, boolean>(`again after ${turn}`) ? 'work' : END }),
        { ends: ['work', END] },
      )
      .addEdge(START, 'work')
      .addEdge('work', 'ask')
      .compile();
    return new StateGraph(Log)
      .addNode('inner', inner)
      .addNode('end', async ({ log }) => ({ last: await world.effect('work', `end of ${log.length}`) }))
      .addEdge(START, 'inner')
      .addEdge('inner', 'end')
      .addEdge('end', END);
  },
};

/** The node of the outer graph is run again and again, and the inner one anew each time. */
const calledInALoop: Program = {
  input: { last: 0 },
  build: (world) => {
    const inner = new StateGraph(Inner)
      .addNode('say', async ({ word }) => ({ log: [await world.effect('say', `say ${word}`)] }))
      .addEdge(START, 'say')
      .addEdge('say', END)
      .compile();
    return new StateGraph(Log)
      .addNode('call', async ({ last }) => {
        const { log } = await inner.invoke({ word: `${String(last)}` });
        return { log, last: Number(last) + 1 };
      })
      .addEdge(START, 'call')
      .addConditionalEdges('call', ({ last }) => (Number(last) < 3 ? 'call' : END), ['call', END]);
  },
};

const sentToSubgraph: Program = {
  input: {},
  answer: (asked) => `(${String(asked)})`,
  build: (world) =>
    new StateGraph(Inner)
      .addNode('inner', asking(world, 'Which?'))
      .addConditionalEdges(START, () => ['a', 'b'].map((word) => new Send('inner', { word, log: [] })), [
        'inner',
      ])
      .addNode('end', async ({ log }) => ({ log: [await world.effect('end', `end of ${log.length}`)] }))
      .addEdge('inner', 'end')
      .addEdge('end', END),
};

/** Keeps what it knows from call to call. */
const remembering: Program = {
  input: { last: 0 },
  build: (world) => {
    const inner = new StateGraph(Inner)
      .addNode('say', async ({ word, log }) => {
        world.visit('say', { word, log });
        return { log: [await world.effect('say', `say ${word}`)] };
      })
      .addEdge(START, 'say')
      .addEdge('say', END)
      .compile({ checkpointer: true });
    return new StateGraph(Log)
      .addNode('call', async ({ last }) => {
        const { log } = await inner.invoke({ word: `${String(last)}` });
        return { log: [`${log.length}`], last: Number(last) + 1 };
      })
      .addEdge(START, 'call')
      .addConditionalEdges('call', ({ last }) => (Number(last) < 3 ? 'call' : END), ['call', END]);
  },
};

export const subgraphs: Programs = {
  'a subgraph with the state of its parent': shared(false),
  'a subgraph that asks': shared(true),
  'a subgraph called in a node asks': transformed,
  'subgraphs in subgraphs ask': nestedTwice,
  'subgraphs side by side ask': inParallel,
  'subgraphs side by side ask, answered one by one': { ...inParallel, oneByOne: true },
  'a loop in a subgraph asks': loopInside,
  'a subgraph called in a loop': calledInALoop,
  'sends to a subgraph that asks': sentToSubgraph,
  'a subgraph that remembers': remembering,
};
