import { env } from 'node:process';
import { durable } from '@devs/core';
import { postgres } from '@devs/postgres';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

// What a user gives to `devs worker`: a module that exports an app.
const State = Annotation.Root({ name: Annotation<string>, greeting: Annotation<string> });
const builder = new StateGraph(State)
  .addNode('greet', ({ name }) => ({ greeting: `Hello, ${name}` }))
  .addEdge(START, 'greet')
  .addEdge('greet', END);

export const app = durable(builder, { runs: postgres(String(env['GREETER_URL'])), graph: 'greeter' });
