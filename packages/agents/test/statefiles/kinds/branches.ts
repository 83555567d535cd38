import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { ADA, ownRun, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const State = Annotation.Root({
  topic: Annotation<string>(),
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

function open(dir: string) {
  const ledger = new Ledger(dir);
  const branch = (name: string) => async () => ({
    log: [await step('llm', ({ key }) => ledger.call(name, key, `${name} done`))],
  });
  const builder = new StateGraph(State)
    .addNode('left', branch('left'))
    .addNode('right', branch('right'))
    .addNode('free', branch('free'))
    .addNode('join', async ({ log }) => ({
      log: [await step('llm', ({ key }) => ledger.call('join', key, `joined ${log.length}`))],
    }))
    .addEdge(START, 'left')
    .addEdge(START, 'right')
    .addEdge(START, 'free')
    .addEdge(['left', 'right', 'free'], 'join')
    .addEdge('join', END);
  const show = ({ topic }: typeof State.State) => topic;
  const gates = { left: { show }, right: { show } };
  return ownRun(durable(builder, { file: stateFileIn(dir), gates }), { topic: 'tea' }, ({ log }) => log);
}

/** Two branches wait for a human beside one that is done; one of them is decided, and nobody has taken that up. */
export const branches: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => {
    const run = open(dir);
    await run.drive();
    const [first] = await run.gates();
    if (first !== undefined) await run.decide(first, { approved: true, by: ADA });
    await run.close();
  },
  resume: (dir) => resumeRun(open(dir), { approved: true }),
  resumed: {
    answered: ['node_gate'],
    status: 'completed',
    outcome: ['free done', 'left done', 'right done', 'joined 3'],
  },
  calls: ['free', 'left', 'right', 'join'],
};
