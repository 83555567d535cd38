// `file run ms`: drives a run of its own over a file that others drive theirs over, for so long. Says `ready`, begins when it is
// told a line, and ends with the times of its super-steps, ms, as one JSON document.
import { once } from 'node:events';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';

const [file = '', run = '', ms = ''] = process.argv.slice(2);
const ANSWER = 'The answer of a model, as long as a short paragraph usually is. '.repeat(16);

const State = Annotation.Root({ visits: Annotation<number>(), answer: Annotation<string>() });
const times: number[] = [];
let [end, last] = [Number.POSITIVE_INFINITY, 0];
const graph = new StateGraph(State)
  .addNode('work', async ({ visits }) => {
    const now = performance.now();
    if (visits > 0) times.push(now - last);
    last = now;
    return { visits: visits + 1, answer: await step('model', async () => ANSWER) };
  })
  .addEdge(START, 'work')
  .addConditionalEdges('work', () => (performance.now() < end ? 'work' : '__end__'));
const app = durable(graph, { file, guards: { maxDepth: 1_000_000 } });
process.stdout.write('ready\n');
await once(process.stdin, 'data');
end = performance.now() + Number(ms);
const { status } = await app.run(run, { visits: 0 });
app.close();
process.stdin.destroy();
if (status !== 'completed') throw new Error(`${run}: ${status}`);
process.stdout.write(`${JSON.stringify(times)}\n`);
