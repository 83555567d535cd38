import { AIMessage, HumanMessage, RemoveMessage } from '@langchain/core/messages';
import {
  Annotation,
  END,
  MessagesAnnotation,
  Overwrite,
  REMOVE_ALL_MESSAGES,
  START,
  StateGraph,
} from '@langchain/langgraph';
import type { Program, Programs } from './Program.ts';
import { Log } from './states.ts';

const deferred: Program = {
  input: {},
  build: (world) =>
    new StateGraph(Log)
      .addNode('short', async () => ({ log: [await world.effect('x', 'short')] }))
      .addNode('long1', async () => ({ log: [await world.effect('x', 'long 1')] }))
      .addNode('long2', async () => ({ log: [await world.effect('x', 'long 2')] }))
      .addNode('end', async ({ log }) => ({ last: await world.effect('x', `last of ${log.length}`) }), {
        defer: true,
      })
      .addEdge(START, 'short')
      .addEdge(START, 'long1')
      .addEdge('long1', 'long2')
      .addEdge('short', 'end')
      .addEdge('long2', 'end'),
};

const Sets = Annotation.Root({
  seen: Annotation<Set<string>, Iterable<string>>({
    reducer: (left, right) => new Set([...left, ...right]),
    default: () => new Set(),
  }),
  counts: Annotation<Map<string, number>>({
    reducer: (left, right) => new Map([...left, ...right]),
    default: () => new Map(),
  }),
  odd: Annotation<unknown>(),
});

const reducers: Program = {
  input: { seen: ['a'] },
  build: (world) =>
    new StateGraph(Sets)
      .addNode('first', async (state) => {
        world.visit('first', state);
        await world.effect('first', 'first');
        return { seen: ['b', 'a'], counts: new Map([['x', 1]]) };
      })
      .addNode('second', async (state) => {
        world.visit('second', state);
        await world.effect('second', 'second');
        return { seen: ['c'], counts: new Map([['y', 2]]), odd: [null, { nothing: null }] };
      })
      .addEdge(START, 'first')
      .addEdge('first', 'second'),
};

const messages: Program = {
  input: { messages: [{ role: 'user', content: 'Hello.', id: 'm1' }] },
  build: (world) =>
    new StateGraph(MessagesAnnotation)
      .addNode('answer', async ({ messages }) => {
        world.visit('answer', messages);
        const content = await world.effect('llm', 'answer');
        return {
          messages: [
            new AIMessage({ id: 'm2', content }),
            new HumanMessage({ id: 'm1', content: 'Changed.' }),
          ],
        };
      })
      .addNode('remove', async () => {
        await world.effect('x', 'remove');
        return { messages: [new RemoveMessage({ id: 'm1' })] };
      })
      .addNode('more', async ({ messages }) => {
        world.visit('more', messages);
        return {
          messages: [{ role: 'assistant', content: await world.effect('llm', 'more'), id: 'm3' }] as never,
        };
      })
      .addNode('clear', async () => {
        await world.effect('x', 'clear');
        return {
          messages: [
            new RemoveMessage({ id: REMOVE_ALL_MESSAGES }),
            new HumanMessage({ id: 'm4', content: 'New.' }),
          ],
        };
      })
      .addEdge(START, 'answer')
      .addEdge('answer', 'remove')
      .addEdge('remove', 'more')
      .addEdge('more', 'clear'),
};

const overwrite: Program = {
  input: { log: ['begun'] },
  build: (world) =>
    new StateGraph(Log)
      .addNode('first', async () => ({ log: [await world.effect('first', 'first')] }))
      .addNode('anew', async ({ log }) => {
        await world.effect('anew', `anew after ${log.length}`);
        return { log: new Overwrite(['anew']) as never };
      })
      .addNode('more', async () => ({ log: [await world.effect('last', 'last')] }))
      .addEdge(START, 'first')
      .addEdge('first', 'anew')
      .addEdge('anew', 'more'),
};

const Private = Annotation.Root({ hidden: Annotation<string>() });
const Question = Annotation.Root({ question: Annotation<string>() });
const Answer = Annotation.Root({ answer: Annotation<string>() });
const Overall = Annotation.Root({ ...Question.spec, ...Answer.spec, note: Annotation<string>() });

const schemas: Program = {
  input: { question: 'Why?' },
  build: (world) =>
    new StateGraph({ input: Question, output: Answer, stateSchema: Overall })
      .addNode('think', async (given) => {
        world.visit('think', given);
        return { hidden: await world.effect('think', 'think'), note: 'thought' };
      })
      .addNode(
        'say',
        async (given: typeof Private.State) => {
          world.visit('say', given);
          return { answer: await world.effect('answer', `answer by ${given.hidden}`) };
        },
        { input: Private },
      )
      .addEdge(START, 'think')
      .addEdge('think', 'say')
      .addEdge('say', END),
};

/** Odd turns one way, even ones the other, by the words of a path map. */
const cycle: Program = {
  input: { last: 0 },
  build: (world) => {
    const turn = (name: string) => async (state: typeof Log.State) => {
      world.visit(name, state);
      const at = Number(state.last);
      return { log: [await world.effect('turn', `${name} ${at}`)], last: at + 1 };
    };
    const way = ({ last }: typeof Log.State): 'end' | 'odd' | 'even' => {
      if (Number(last) > 4) return 'end';
      return Number(last) % 2 === 1 ? 'odd' : 'even';
    };
    return new StateGraph(Log)
      .addNode('a', turn('a'))
      .addNode('b', turn('b'))
      .addEdge(START, 'a')
      .addConditionalEdges('a', way, { odd: 'b', even: 'a', end: END })
      .addConditionalEdges('b', way, { odd: 'b', even: 'a', end: END });
  },
};

/** Waits for all three, of which one takes a step more. */
const join: Program = {
  input: {},
  build: (world) => {
    const say = (what: string) => async () => ({ log: [await world.effect('say', what)] });
    return new StateGraph(Log)
      .addNode('a', say('a'))
      .addNode('b', say('b'))
      .addNode('b2', say('b2'))
      .addNode('join', say('join'))
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .addEdge('b', 'b2')
      .addEdge(['a', 'b2'], 'join');
  },
};

export const channels: Programs = {
  'a deferred node': deferred,
  'reducers of sets and maps': reducers,
  'messages, changed and removed': messages,
  'a value overwritten': overwrite,
  'schemas of input, output and one node': schemas,
  'a cycle with a path map': cycle,
  'a join of branches of two lengths': join,
};
