import { durable, step } from '@devs/core/langgraph';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

export const graph = (world: World) =>
  new StateGraph(MessagesAnnotation)
    .addNode('answer', async ({ messages }) => {
      const chat = messages.map(({ text }) => text).join(' / ');
      return { messages: [new AIMessage(await step('llm', ({ key }) => world.model(chat, key)))] };
    })
    .addEdge(START, 'answer');

export const app = (file: string, world: World) => durable(graph(world), { file });

const asks = (id: string, content: string) => ({ messages: [new HumanMessage({ id, content })] });

export const input = asks('m-1', 'Hi, my name is Bob.');
export const turns = [asks('m-2', 'What is my name?'), asks('m-3', 'Thank you.')];

export const model = (chat: string) => {
  if (chat.endsWith('?')) return `It is ${/my name is (\w+)/.exec(chat)?.[1] ?? 'unknown to me'}.`;
  return chat.includes('Thank') ? 'You are welcome.' : 'Hello.';
};

export const ends = {
  messages: [{}, { content: 'Hello.' }, {}, { content: 'It is Bob.' }, {}, { content: 'You are welcome.' }],
};
