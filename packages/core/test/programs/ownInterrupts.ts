// Programs that ask with this package's `interrupt()`. Without the engine it is LangGraph's.
import { AIMessage } from '@langchain/core/messages';
import {
  END,
  entrypoint,
  interrupt as langGraphInterrupt,
  MessagesAnnotation,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { interrupt } from '../../src/engine/node/interrupt.ts';
import { toolOf } from './agentTools.ts';
import type { Program, Programs } from './Program.ts';
import { Inner, Log } from './states.ts';
import type { World } from './World.ts';

const said = (asked: unknown): string => `answer to ${JSON.stringify(asked)}`;

const loop: Program = {
  input: {},
  answer: said,
  build: (world) =>
    new StateGraph(Log)
      .addNode('form', async (state) => {
        world.visit('form', state);
        const log: string[] = [];
        for (const field of ['name', 'age', 'town', 'street']) {
          log.push(await world.effect(field, `before ${field} ${log.length}`));
          log.push(interrupt<object, string>({ field, of: log.length }));
        }
        return { log: [...log, await world.effect('save', log.join(', '))] };
      })
      .addEdge(START, 'form'),
};

/** A library in a node asks by LangGraph's function. */
const mixed: Program = {
  input: {},
  answer: said,
  build: (world) =>
    new StateGraph(Log)
      .addNode('form', async () => {
        const log = [interrupt<string, string>('first, own')];
        log.push(langGraphInterrupt<string, string>("second, LangGraph's"));
        log.push(await world.effect('between', log.join(', ')));
        log.push(langGraphInterrupt<string, string>("third, LangGraph's"));
        log.push(interrupt<string, string>('fourth, own'));
        return { log: [...log, await world.effect('save', log.join(', '))] };
      })
      .addEdge(START, 'form'),
};

const inParallel: Program = {
  input: {},
  answer: said,
  build: (world) => {
    const ask = (name: string) => async () => {
      const before = await world.effect('draft', `draft of ${name}`);
      const answers = [1, 2].map((nth) => interrupt<string, string>(`${name} ${nth}`));
      return { log: [before, ...answers, await world.effect('act', `${name}: ${answers.join()}`)] };
    };
    return new StateGraph(Log)
      .addNode('left', ask('left'))
      .addNode('right', ask('right'))
      .addEdge(START, 'left')
      .addEdge(START, 'right');
  },
};

const asking = (world: World) =>
  new StateGraph(Inner)
    .addNode('look', async ({ word }) => ({ log: [await world.effect('look', `look for ${word}`)] }))
    .addNode('ask', ({ word }) => ({
      word: ['Which?', 'Sure?'].map((each) => interrupt<string, string>(`${each} ${word}`)).join(),
    }))
    .addNode('take', async ({ word }) => ({ log: [await world.effect('take', `take ${word}`)] }))
    .addEdge(START, 'look')
    .addEdge('look', 'ask')
    .addEdge('ask', 'take')
    .addEdge('take', END)
    .compile();

/** The graph is a node, and a node calls it between questions of its own. */
const nested: Program = {
  input: { last: 'Bern' },
  answer: said,
  build: (world) =>
    new StateGraph(Log)
      .addNode('call', async ({ last }) => {
        const first = interrupt<string, string>(`Go to ${String(last)}?`);
        const { log, word } = await asking(world).invoke({ word: first });
        const second = interrupt<string, string>(`Take ${word}?`);
        return { log: [...log, second, await world.effect('after', `after ${second}`)] };
      })
      .addEdge(START, 'call'),
};

const inTools: Program = {
  input: {
    messages: [
      new AIMessage({
        id: 'asks',
        content: '',
        tool_calls: ['one', 'two'].map((what) => ({
          name: 'ask',
          args: { what },
          id: what,
          type: 'tool_call',
        })),
      }),
    ],
  },
  answer: said,
  build: (world) => {
    const ask = toolOf('ask', async (what) => {
      const answers = [1, 2].map((nth) => interrupt<string, string>(`${what} ${nth}`));
      return world.effect(`act on ${what}`, `${what}: ${answers.join()}`);
    });
    return new StateGraph(MessagesAnnotation).addNode('tools', new ToolNode([ask])).addEdge(START, 'tools');
  },
};

const inTasks: Program = {
  input: 'essay',
  answer: said,
  build: (world) => {
    const review = task('review', async (what: string) => {
      const answers = ['tone', 'length'].map((each) => interrupt<string, string>(`${each} of ${what}?`));
      return world.inTask(`${what}: ${answers.join()}`);
    });
    return entrypoint('workflow', async (what: string) => {
      const title = interrupt<string, string>(`title of ${what}?`);
      const reviews = [await review('draft'), await review(title)];
      return { reviews, last: interrupt<string, string>('publish?') };
    });
  },
};

const checked: Program = {
  input: {},
  answer: (asked) => ({ age: String(asked).length }),
  build: (world) =>
    new StateGraph(Log)
      .addNode('ask', async () => {
        const responseSchema = z.object({ age: z.number() });
        const ages = ['a', 'bc'].map(
          (each) => interrupt<string, { age: number }>(each, { responseSchema }).age,
        );
        return { last: await world.effect('save', ages.join()) };
      })
      .addEdge(START, 'ask'),
};

export const ownInterrupts: Programs = {
  'questions in a loop': loop,
  "questions between LangGraph's": mixed,
  'questions in parallel branches': inParallel,
  'questions in parallel branches, one by one': { ...inParallel, oneByOne: true },
  'questions around a graph that asks': nested,
  'questions in tools': inTools,
  'questions in tools, one by one': { ...inTools, oneByOne: true },
  'questions in tasks': inTasks,
  'answers that a schema checks': checked,
};
