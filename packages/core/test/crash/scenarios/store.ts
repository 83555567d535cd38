import {
  Annotation,
  END,
  getStore,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { SqliteStore, step } from '../../../src/langgraph.ts';
import type { Left, Process, Scenario } from './Scenario.ts';

const ON_DISK = 'the visit is on disk';

/** Where visits are counted. */
const visitsOf = (run: string): string[] => ['users', run];

const State = Annotation.Root({ id: Annotation<string>(), count: Annotation<number>() });

/** Counts a visit in the store: reads, and puts one more; there its node has not yet returned. */
function countingVisits({ db, durable, moment }: Process, read: 'in a step' | 'anew') {
  const visit = async ({ id }: { readonly id: string }, { store }: LangGraphRunnableConfig) => {
    const visits = async () =>
      ((await store?.get(visitsOf(id), 'visits'))?.value['count'] as number | undefined) ?? 0;
    const before = read === 'anew' ? await visits() : await step('visits', visits, { kind: 'work' });
    await getStore()?.put(visitsOf(id), 'visits', { count: before + 1 });
    moment(ON_DISK);
    return { count: before + 1 };
  };
  const graph = new StateGraph(State).addNode('visit', visit).addEdge(START, 'visit').addEdge('visit', END);
  return durable(graph, { db, store: 'file' });
}

async function live(process: Process, run: string, read: 'in a step' | 'anew'): Promise<unknown> {
  const { status, values } = await countingVisits(process, read).run(run, { id: run });
  return { status, count: values?.count };
}

/** The item, as a process finds it that has not begun. */
const visitIn = async ({ db }: Process, run: string): Promise<unknown> =>
  (await new SqliteStore(db).get(visitsOf(run), 'visits'))?.value ?? null;

const counted = (count: number): Left => ({ outcome: { status: 'completed', count }, inFile: { count } });

export const storeInAStep: Scenario = {
  what: 'a node that writes to the store what it has read in a step',
  deaths: { atWrites: 4, atMoments: [ON_DISK] },
  start: (process) => (run) => live(process, run, 'in a step'),
  expected: (_run, place) => ({
    ...counted(1),
    between: place === ON_DISK ? [{ count: 1 }] : [null, { count: 1 }],
  }),
  between: visitIn,
  inFile: visitIn,
};

/** Reads what it wrote itself, where its node has not returned. */
export const storeAnew: Scenario = {
  ...storeInAStep,
  what: 'a node that writes to the store what it reads anew',
  deaths: { atMoments: [ON_DISK] },
  start: (process) => (run) => live(process, run, 'anew'),
  expected: (_run, place) => ({ ...counted(place === ON_DISK ? 2 : 1), between: [{ count: 1 }] }),
};
