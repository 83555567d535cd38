// Waits for decisions of another process, over a state file. Arguments: the file, how many runs, how many questions in each.
// Says `RUN QUESTION` when an answer has arrived, and ends when all runs have.
import { writeSync } from 'node:fs';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../src/engine/app/durable.ts';

const [, , file = '', runs = '', questions = ''] = process.argv;

const State = Annotation.Root({ id: Annotation<string>(), asked: Annotation<number>() });

const app = durable(
  new StateGraph(State)
    .addNode('ask', ({ id, asked }) => {
      interrupt(`${id} ${asked}?`);
      writeSync(1, `${id} ${asked}\n`);
      return { asked: asked + 1 };
    })
    .addEdge(START, 'ask')
    .addConditionalEdges('ask', ({ asked }) => (asked < Number(questions) ? 'ask' : END), ['ask', END]),
  { file, guards: { maxDepth: 100_000 } },
);
const ids = Array.from({ length: Number(runs) }, (_, at) => `run-${at}`);
await Promise.all(ids.map((id) => app.run(id, { id, asked: 0 }, { wait: true })));
app.close();
