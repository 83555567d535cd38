// Drives one run that makes calls side by side under a budget, and kills itself at the n-th moment. Arguments: the state
// file, a file for what its calls do outside, n (0: live), the rounds of the run. Prints the outcome of the drive.
import { appendFileSync } from 'node:fs';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';

const [, , file = '', effects = '', dieAt = '0', rounds = '1'] = process.argv;

let moments = 0;
function moment(): void {
  moments += 1;
  if (moments === Number(dieAt)) process.kill(process.pid, 'SIGKILL');
}

const State = Annotation.Root({ round: Annotation<number>() });

const spend = async ({ round }: typeof State.State) => {
  const call = (name: string) =>
    step(
      name,
      async ({ key, usage }) => {
        appendFileSync(effects, `${key}\n`);
        moment();
        await new Promise((resolve) => setTimeout(resolve, 2));
        usage({ tokensIn: 7, tokensOut: 3, costUsd: 0.25 });
        moment();
      },
      { reserve: { usd: 0.25, tokens: 10 } },
    );
  await Promise.all(['a', 'b', 'c', 'd'].map(call));
  return { round: round + 1 };
};

const app = durable(
  new StateGraph(State)
    .addNode('spend', spend)
    .addEdge(START, 'spend')
    .addConditionalEdges('spend', ({ round }) => (round < Number(rounds) ? 'spend' : END), ['spend', END]),
  { file, budget: { calls: 10, usd: 1000 }, guards: { maxDepth: 100 } },
);
app.events.onAny((name) => {
  if (name !== 'NODE_STARTED') moment();
});

const { status, gates } = await app.run('run', { round: 0 });
process.stdout.write(JSON.stringify({ status, gates }));
