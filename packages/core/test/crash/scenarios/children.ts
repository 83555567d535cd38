import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { step } from '../../../src/engine/node/step.ts';
import { child } from '../../../src/engine/node/waitFor.ts';
import { onceForEachKey, type Process, type Scenario } from './Scenario.ts';

const ada = { kind: 'human', id: 'ada' } as const;
const State = Annotation.Root({
  topic: Annotation<string>(),
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

/** A graph of one node, with its effects in steps. */
const one = (work: (topic: string) => Promise<readonly string[]>) =>
  new StateGraph(State)
    .addNode('work', async ({ topic }) => ({ log: await work(topic) }))
    .addEdge(START, 'work')
    .addEdge('work', END);

/** A parent with a child that has one of its own beside one that asks a human. */
function family({ db, durable, effect }: Process) {
  const effectOf = (what: string) => step(what, ({ key }) => effect(what, key));
  const leaf = durable(
    one(async (topic) => {
      await effectOf('leaf');
      return [`leaf of ${topic}`];
    }),
    { db },
  );
  const middle = durable(
    one(async (topic) => (await child(leaf, `${topic}-leaf`, { topic })).values?.log ?? []),
    { db, version: 'middle' },
  );
  const asking = durable(
    one(async (topic) => {
      await effectOf('asked');
      return [`asked ${topic}: ${String(interrupt('Well?'))}`];
    }),
    { db, version: 'asking' },
  );
  const parent = durable(
    one(async (id) => {
      await effectOf('before');
      const both = await Promise.all([
        child(middle, `${id}-middle`, { topic: `${id}-left` }),
        child(asking, `${id}-asking`, { topic: 'right' }),
      ]);
      const [again] = (await child(asking, `${id}-asking`, { topic: 'right' })).values?.log ?? [];
      await effectOf('after');
      return [...both.flatMap(({ values }) => values?.log ?? []), `again ${again}`];
    }),
    { db, version: 'parent' },
  );
  return { parent, asking };
}

/** @param cancels - Ends it where a human would be asked. */
async function live(process: Process, id: string, cancels: boolean): Promise<readonly string[]> {
  const { parent, asking } = family(process);
  for (let looks = 0; looks < 20; looks += 1) {
    const ran = await parent.run(id, { topic: id });
    if (ran.status !== 'waiting') return [ran.status, ...(ran.values?.log ?? [])];
    if (cancels) await parent.cancel(id);
    else
      for (const gate of await asking.gates(`${id}-asking`))
        await asking.decide(gate, { value: 'yes', by: ada });
  }
  throw new Error('The run does not end.');
}

/** What the file says of a family: nobody is left over, nobody was begun twice, nobody ended twice. */
function familyIn(db: Database, id: string) {
  const all = (sql: string): readonly (readonly unknown[])[] =>
    db
      .prepare<[object], readonly unknown[]>(sql)
      .raw()
      .all({ id, more: `${id}-%` }) as never;
  const of = (column: string): string => `(${column} = @id OR ${column} LIKE @more)`;
  return {
    runs: all(`SELECT thread_id, status FROM threads WHERE ${of('thread_id')} ORDER BY thread_id`),
    edges: all(
      `SELECT child_id, parent_id, ended_as FROM child_runs WHERE ${of('parent_id')} ORDER BY child_id`,
    ),
    waits: all(
      `SELECT thread_id, subject, state, count(*) FROM waits WHERE ${of('thread_id')} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    ),
    finished: all(
      `SELECT thread_id, count(*) FROM events WHERE name = 'RUN_FINISHED' AND ${of('thread_id')} GROUP BY 1 ORDER BY 1`,
    ),
  };
}

export const children: Scenario = {
  what: 'a run with children',
  deaths: { atWrites: 4, byKill: 1 },
  start: (process) => (run) => live(process, run, false),
  expected: (run) => ({
    outcome: ['completed', `leaf of ${run}-left`, 'asked right: yes', 'again asked right: yes'],
    inFile: {
      runs: [
        [run, 'completed'],
        [`${run}-asking`, 'completed'],
        [`${run}-left-leaf`, 'completed'],
        [`${run}-middle`, 'completed'],
      ],
      edges: [
        [`${run}-asking`, run, 'completed'],
        [`${run}-left-leaf`, `${run}-middle`, 'completed'],
        [`${run}-middle`, run, 'completed'],
      ],
      waits: [
        [run, `${run}-asking`, 'met', 2],
        [run, `${run}-middle`, 'met', 1],
        [`${run}-middle`, `${run}-left-leaf`, 'met', 1],
      ],
      finished: [
        [run, 1],
        [`${run}-asking`, 1],
        [`${run}-left-leaf`, 1],
        [`${run}-middle`, 1],
      ],
    },
    outside: ['after', 'asked', 'before', 'leaf'],
  }),
  inFile: ({ db }, run) => familyIn(db, run),
  outside: onceForEachKey,
};

export const cancelledChildren: Scenario = {
  what: 'a run with children, cancelled half way',
  deaths: { atWrites: 2, byKill: 1 },
  start: (process) => (run) => live(process, run, true),
  expected: () => ({ outcome: ['cancelled'], inFile: { leftOver: [] } }),
  // Whoever was begun below has ended as it did, or with its parent.
  inFile: ({ db }, run) => ({
    leftOver: familyIn(db, run).runs.filter(([, status]) => status !== 'cancelled' && status !== 'completed'),
  }),
};
