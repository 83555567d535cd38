import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { driveOnce, ownRun, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const State = Annotation.Root({ rounds: Annotation<number>() });

const ROUNDS = 6;

function open(dir: string) {
  const ledger = new Ledger(dir);
  const builder = new StateGraph(State)
    .addNode('try', async ({ rounds }) => ({
      rounds: await step('llm', ({ key }) => ledger.call(`try ${rounds + 1}`, key, rounds + 1)),
    }))
    .addEdge(START, 'try')
    .addConditionalEdges('try', ({ rounds }) => (rounds < ROUNDS ? 'try' : END));
  const guards = { maxDepth: 4 };
  return ownRun(durable(builder, { file: stateFileIn(dir), guards }), { rounds: 0 }, ({ rounds }) => rounds);
}

/** Waits for a human because it goes round without progress. */
export const depth: StateFileKind = {
  since: '0.1.0-27306ef',
  make: (dir) => driveOnce(open(dir)),
  resume: (dir) => resumeRun(open(dir), { action: 'continue' }),
  resumed: { answered: ['recursion_limit'], status: 'completed', outcome: ROUNDS },
  calls: ['try 1', 'try 2', 'try 3', 'try 4', 'try 5', 'try 6'],
};
