import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { ownRun, RUN, stateFileIn } from '../OpenRun.ts';
import type { Resumed, StateFileKind } from '../StateFileKind.ts';

const State = Annotation.Root({ draft: Annotation<string>(), url: Annotation<string>() });

function openApp(dir: string) {
  const ledger = new Ledger(dir);
  const builder = new StateGraph(State)
    .addNode('write', async () => ({
      draft: await step('llm', ({ key }) => ledger.call('write', key, 'Tea')),
    }))
    .addNode('publish', async () => ({
      url: await step('post', ({ key }) => ledger.call('post', key, 'url')),
    }))
    .addEdge(START, 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', END);
  return durable(builder, { file: stateFileIn(dir), gates: { publish: ({ draft }) => draft } });
}

async function make(dir: string): Promise<void> {
  const app = openApp(dir);
  await app.run(RUN, {});
  await Promise.resolve(app.cancel(RUN));
  await Promise.resolve(app.close());
}

async function resume(dir: string): Promise<Resumed> {
  const run = ownRun(openApp(dir), {}, ({ draft }) => draft);
  // Whoever takes the request up answers nothing.
  const { status, outcome } = await run.drive();
  await run.close();
  return { answered: [], status, outcome };
}

/** Waits at a gate, and was asked to end by somebody who does not drive it. */
export const cancelled: StateFileKind = {
  since: '0.1.0-27306ef',
  make,
  resume,
  resumed: { answered: [], status: 'cancelled', outcome: 'Tea' },
  calls: ['write'],
};
