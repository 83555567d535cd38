import { durable, sleep, step, waitFor } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { Ledger } from '../Ledger.ts';
import { ADA, driveOnce, ownRun, RUN, resumeRun, stateFileIn } from '../OpenRun.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const Order = Annotation.Root({ item: Annotation<string>(), paid: Annotation<number>() });

const HOUR = 3_600_000;

function appIn(dir: string) {
  const ledger = new Ledger(dir);
  const builder = new StateGraph(Order)
    .addNode('bill', async ({ item }) => {
      await step('bill', ({ key }) => ledger.call('bill', key, item));
      await sleep(1);
      return {};
    })
    .addNode('wait', async () => {
      const early = await waitFor<{ amount: number }>('deposit', { within: 100_000 * HOUR });
      const late = await waitFor<{ amount: number }>('payment', { within: 100_000 * HOUR });
      if (early.timedOut || late.timedOut) throw new Error('No payment came.');
      return { paid: early.payload.amount + late.payload.amount };
    })
    .addNode('ship', async ({ item }) => {
      await step('ship', ({ key }) => ledger.call('ship', key, item));
      return {};
    })
    .addEdge(START, 'bill')
    .addEdge('bill', 'wait')
    .addEdge('wait', 'ship')
    .addEdge('ship', END);
  return durable(builder, { file: stateFileIn(dir) });
}

const open = (app: ReturnType<typeof appIn>) => ownRun(app, { item: 'tea' }, ({ paid }) => paid);

const pay = (app: ReturnType<typeof appIn>, name: string, amount: number) =>
  app.signal(RUN, name, { amount }, { by: ADA, signalId: name });

/** Waits for the second of two signals, with a deadline far away; a timer has fired before. */
export const signal: StateFileKind = {
  since: '0.1.0-e36ae08',
  make: async (dir) => {
    const app = appIn(dir);
    const run = { ...open(app), close: () => undefined };
    await driveOnce(run);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await pay(app, 'deposit', 5);
    await driveOnce(run);
    app.close();
  },
  resume: async (dir) => {
    const app = appIn(dir);
    await pay(app, 'payment', 37);
    return await resumeRun(open(app), { approved: true });
  },
  resumed: { answered: [], status: 'completed', outcome: 42 },
  calls: ['bill', 'ship'],
};
