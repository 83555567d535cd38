import { env } from 'node:process';
import { durable } from '@devs/core';
import { Annotation, END, entrypoint, interrupt, START, StateGraph, task } from '@langchain/langgraph';

// A user's module for `devs worker`: it exports apps over one state file.
const State = Annotation.Root({ name: Annotation<string>, greeting: Annotation<string> });
const greeter = (greeting: string) =>
  new StateGraph(State)
    .addNode('greet', ({ name }) => ({ greeting: `${greeting}, ${name}` }))
    .addEdge(START, 'greet')
    .addEdge('greet', END);

const file = String(env['GREETER_FILE']);

export const hello = durable(greeter('Hello'), { file, name: 'hello' });
export const bye = durable(greeter('Bye'), { file, name: 'bye' });

const name = task('name', async (given: string) => given.trim());
/** Of the functional API. */
export const later = durable(
  entrypoint('later', async (given: string) => {
    const who = await name(given);
    return `${interrupt<string, string>(`Greet ${who}?`)}, ${who}`;
  }),
  { file, name: 'later' },
);
export const apps = [hello, bye, later];
