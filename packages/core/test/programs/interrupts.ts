import { Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Program, Programs } from './Program.ts';
import { Log } from './states.ts';

const several: Program = {
  input: {},
  answer: (asked) => `answer to ${JSON.stringify(asked)}`,
  build: (world) =>
    new StateGraph(Log)
      .addNode('form', async (state) => {
        world.visit('form', state);
        const first = await world.effect('a', 'before the first');
        const name = interrupt<object, string>({ ask: 'name' });
        const second = await world.effect('b', `after ${name}`);
        const age = interrupt<object, string>({ ask: 'age', of: name });
        const third = interrupt<object, string>({ ask: 'name' });
        return { log: [first, second, await world.effect('c', `after ${age}`), third] };
      })
      .addEdge(START, 'form'),
};

const inParallel: Program = {
  input: {},
  answer: (asked) => `yes, ${String(asked)}`,
  build: (world) => {
    const ask = (name: string) => async () => {
      const before = await world.effect('draft', `draft of ${name}`);
      const said = interrupt<string, string>(name);
      return { log: [before, await world.effect('act', `${name}: ${said}`)] };
    };
    return new StateGraph(Log)
      .addNode('left', ask('left'))
      .addNode('right', ask('right'))
      .addNode('beside', async () => ({ log: [await world.effect('act', 'beside')] }))
      .addNode('join', async ({ log }) => ({ last: await world.effect('join', `join of ${log.length}`) }))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .addEdge(START, 'beside')
      .addEdge(['left', 'right', 'beside'], 'join');
  },
};

/** The same question, until the answer fits. */
const untilItFits: Program = {
  input: {},
  answer: (asked) => (String(asked).length < 8 ? 'x' : 42),
  build: (world) =>
    new StateGraph(Log)
      .addNode('ask', async () => {
        let question = 'age?';
        let age = interrupt<string, unknown>(question);
        while (typeof age !== 'number') {
          question = `${question}!!`;
          age = interrupt<string, unknown>(question);
        }
        return { log: [await world.effect('take', `take ${age}`)], last: age };
      })
      .addEdge(START, 'ask'),
};

const loop: Program = {
  input: { last: 0 },
  answer: (asked) => Number(asked) < 3,
  build: (world) =>
    new StateGraph(Log)
      .addNode('work', async ({ last }) => ({
        log: [await world.effect('work', `work ${Number(last)}`)],
        last: Number(last) + 1,
      }))
      .addNode('ask', ({ last }) => new Command({ goto: interrupt<unknown, boolean>(last) ? 'work' : END }), {
        ends: ['work', END],
      })
      .addEdge(START, 'work')
      .addEdge('work', 'ask'),
};

const onAnEdge: Program = {
  input: {},
  answer: () => 'b',
  build: (world) =>
    new StateGraph(Log)
      .addNode('first', async () => ({ log: [await world.effect('first', 'first')] }))
      .addNode('a', async () => ({ log: [await world.effect('a', 'a')] }))
      .addNode('b', async () => ({ log: [await world.effect('b', 'b')] }))
      .addEdge(START, 'first')
      .addConditionalEdges('first', () => interrupt<string, 'a' | 'b'>('a or b?'), ['a', 'b']),
};

const shows = (value: unknown): Program => ({
  input: {},
  answer: (asked) => asked ?? 'nothing shown',
  build: (world) =>
    new StateGraph(Log)
      .addNode('ask', async () => ({ last: interrupt(value), log: [await world.effect('after', 'after')] }))
      .addEdge(START, 'ask'),
});

/** A question is asked after another node has been through a whole turn meanwhile. */
const acrossSteps: Program = {
  input: {},
  answer: (asked) => `ok ${String(asked)}`,
  build: (world) =>
    new StateGraph(Log)
      .addNode('one', async () => ({ last: interrupt('one'), log: [await world.effect('x', 'one')] }))
      .addNode('two', async ({ last }) => ({
        last: interrupt(`two after ${String(last)}`),
        log: [await world.effect('x', 'two')],
      }))
      .addNode('three', async ({ last }) => ({
        log: [await world.effect('x', `three after ${String(last)}`)],
      }))
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .addEdge('two', 'three'),
};

export const interrupts: Programs = {
  'several questions in a node': several,
  'questions in parallel branches': inParallel,
  'questions in parallel branches, one by one': { ...inParallel, oneByOne: true },
  'a question until its answer fits': untilItFits,
  'a question in a loop': loop,
  'a question on an edge': onAnEdge,
  'questions in a row': acrossSteps,
  'a question shows an object': shows({ deep: [{ a: 1 }], nothing: null }),
  'a question shows a list': shows(['a', 1, null]),
  'a question shows a number': shows(7),
};
