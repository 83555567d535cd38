import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Form = Annotation.Root({
  name: Annotation<string>(),
  age: Annotation<number>(),
  greeting: Annotation<string>(),
});

export const graph = (world: World) =>
  new StateGraph(Form)
    .addNode('ask', async ({ name }) => {
      const question = await step('llm', ({ key }) => world.model(`Ask ${name} for the age`, key));
      let age = interrupt<string, unknown>(question);
      while (typeof age !== 'number' || age < 0) {
        age = interrupt<string, unknown>(`${String(age)} is no age. ${question}`);
      }
      return { age };
    })
    .addNode('greet', async ({ name, age }) => ({
      greeting: await step('mail', ({ key }) => world.send(`${name} is ${age}`, key)),
    }))
    .addEdge(START, 'ask')
    .addEdge('ask', 'greet')
    .addEdge('greet', END);

export const app = (file: string, world: World) => durable(graph(world), { file });

export const input = { name: 'Ada' };
export const model = () => 'How old are you?';
export const answers = ['old', -3, 36];
export const ends = { age: 36, greeting: 'receipt of Ada is 36' };
