import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { driveOnce, ownRun, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const State = Annotation.Root({ topic: Annotation<string>(), url: Annotation<string>() });

function open(dir: string, isDown: boolean) {
  const ledger = new Ledger(dir);
  const post = async (key: string): Promise<string> => {
    const url = await ledger.call('post', key, 'https://example.org/1');
    if (isDown) throw new Error('The site is down.');
    return url;
  };
  const builder = new StateGraph(State)
    .addNode('publish', async ({ topic }) => {
      const draft = await step('draft', ({ key }) => ledger.call('draft', key, `All about ${topic}`));
      return { url: `${draft}: ${await step('post', ({ key }) => post(key))}` };
    })
    .addEdge(START, 'publish')
    .addEdge('publish', END);
  return ownRun(durable(builder, { file: stateFileIn(dir) }), { topic: 'tea' }, ({ url }) => url);
}

/** Has failed in a call that threw; the node goes on from the step before it. */
export const failed: StateFileKind = {
  since: '0.1.0-27306ef',
  make: (dir) => driveOnce(open(dir, true)),
  resume: (dir) => resumeRun(open(dir, false), {}),
  resumed: { answered: [], status: 'completed', outcome: 'All about tea: https://example.org/1' },
  calls: ['draft', 'post', 'post'],
  madeAgain: 'post',
};
