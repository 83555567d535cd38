import { Command, END, interrupt, Send, START, StateGraph } from '@langchain/langgraph';
import type { Program, Programs } from './Program.ts';
import { Log } from './states.ts';
import type { World } from './World.ts';

/** `first` returns a value, and `a` and `b` say that they ran. */
const returning = (returned: () => unknown): Program => ({
  input: { log: ['begun'] },
  build: (world) =>
    new StateGraph(Log)
      .addNode(
        'first',
        async () => {
          await world.effect('first', 'first');
          return returned() as object;
        },
        { ends: ['a', 'b', END] },
      )
      .addNode('a', async (state) => {
        world.visit('a', state);
        return { log: [await world.effect('a', 'a')] };
      })
      .addNode('b', async (state) => {
        world.visit('b', state);
        return { log: [await world.effect('b', 'b')] };
      })
      .addEdge(START, 'first'),
});

const loop: Program = {
  input: { last: 0 },
  build: (world) =>
    new StateGraph(Log)
      .addNode(
        'turn',
        async ({ last }) => {
          const turn = Number(last) + 1;
          await world.effect('turn', `turn ${turn}`);
          return new Command({ update: { last: turn, log: [`${turn}`] }, goto: turn < 4 ? 'turn' : END });
        },
        { ends: ['turn', END] },
      )
      .addEdge(START, 'turn'),
};

/** An inner graph that leaves by a command to its parent. */
const leaving = (world: World, leave: () => Command) =>
  new StateGraph(Log)
    .addNode('work', async () => ({ log: [await world.effect('work', 'inner work')] }))
    .addNode('leave', async () => {
      await world.effect('leave', 'inner leave');
      return leave();
    })
    .addEdge(START, 'work')
    .addEdge('work', 'leave')
    .compile();

const parent = (leave: () => Command): Program => ({
  input: { log: ['begun'] },
  build: (world) =>
    new StateGraph(Log)
      .addNode('team', leaving(world, leave), { ends: ['a', 'b'] })
      .addNode('a', async (state) => {
        world.visit('a', state);
        return { log: [await world.effect('a', 'a')] };
      })
      .addNode('b', async (state) => {
        world.visit('b', state);
        return { log: [await world.effect('b', 'b')] };
      })
      .addEdge(START, 'team'),
});

const approval = (answer: unknown): Program => ({
  input: {},
  answer: () => answer,
  build: (world) =>
    new StateGraph(Log)
      .addNode(
        'ask',
        async () => {
          await world.effect('draft', 'draft');
          const approved = interrupt<string, unknown>('Do it?');
          return new Command({ update: { last: approved }, goto: approved ? 'do' : 'skip' });
        },
        { ends: ['do', 'skip'] },
      )
      .addNode('do', async () => ({ log: [await world.effect('do', 'done')] }))
      .addNode('skip', async () => ({ log: [await world.effect('skip', 'skipped')] }))
      .addEdge(START, 'ask'),
});

export const commands: Programs = {
  'a command goes to one node': returning(() => new Command({ goto: 'a', update: { last: 1 } })),
  'a command goes to two nodes': returning(
    () => new Command({ goto: ['a', 'b'], update: { log: ['both'] } }),
  ),
  'a command goes to the end': returning(() => new Command({ goto: END, update: { last: 'end' } })),
  'a command goes nowhere': returning(() => new Command({ update: { last: 'stay' } })),
  'a command with pairs': returning(
    () =>
      new Command({
        goto: 'a',
        update: [
          ['log', ['one']],
          ['log', ['two']],
          ['last', 'pair'],
        ] as never,
      }),
  ),
  'a list of commands and updates': returning(() => [
    new Command({ goto: 'a', update: { log: ['from the first'] } }),
    { log: ['plain'] },
    new Command({ goto: new Send('b', { sent: true }) }),
  ]),
  'a command to a node that is not there': returning(() => new Command({ goto: 'nowhere' })),
  'a loop of commands': loop,
  'a command to the parent': parent(
    () => new Command({ graph: Command.PARENT, goto: 'a', update: { last: 'up' } }),
  ),
  'a command to the parent with pairs and a send': parent(
    () =>
      new Command({
        graph: Command.PARENT,
        goto: ['a', new Send('b', { sent: 1 })],
        update: [
          ['log', ['x']],
          ['log', ['y']],
        ] as never,
      }),
  ),
  'a human says yes': approval(true),
  'a human says no': approval(false),
  'a human says nothing': approval(null),
  'a human says zero': approval(0),
  'a human says a text': approval(''),
  'a human says an object': approval({ approved: false, list: [{ deep: null }] }),
};
