// `file effects name runs`: starts so many runs of its own at once over a file that others drive theirs over, and decides each at
// its gate. Every step writes a line to `effects`. Ends with the codes of the errors it met, as one JSON document.
import { appendFileSync } from 'node:fs';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';

const [file = '', effects = '', name = '', runs = ''] = process.argv.slice(2);
const ROUNDS = 5;

const State = Annotation.Root({ id: Annotation<string>(), round: Annotation<number>() });
const work = async ({ id, round }: typeof State.State) => {
  for (const call of ['first', 'second']) {
    await step(call, async () => {
      appendFileSync(effects, `${id} ${round} ${call}\n`);
      return 'The answer of a model, as long as a short paragraph usually is. '.repeat(16);
    });
  }
  return { round: round + 1 };
};
const graph = new StateGraph(State)
  .addNode('work', work)
  .addNode('release', () => ({}))
  .addEdge(START, 'work')
  .addConditionalEdges('work', ({ round }) => (round < ROUNDS ? 'work' : 'release'));
const app = durable(graph, { file, gates: { release: ({ round }) => round } });

async function drive(id: string): Promise<void> {
  const { gates } = await app.run(id, { id, round: 0 });
  for (const gate of gates) await app.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
  const { status } = await app.run(id);
  if (status !== 'completed') throw new RangeError(`${id}: ${status}`);
}

const ids = Array.from({ length: Number(runs) }, (_, at) => `${name}-${at}`);
const ended = await Promise.allSettled(ids.map(drive));
app.close();
const errors = ended.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
process.stdout.write(JSON.stringify(errors));
