import { appendFileSync } from 'node:fs';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { durable } from '../../src/engine/durable.ts';
import { child } from '../../src/engine/node/child.ts';
import { step } from '../../src/engine/node/step.ts';

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

/** What a life of a run comes to, however often it was killed. */
export const raised = (id: string): readonly string[] => [
  'completed',
  `leaf of ${id}-left`,
  'asked right: yes',
  'again asked right: yes',
];

/** What it does outside, once for each key. */
export const EFFECTS = ['after', 'asked', 'before', 'leaf'];

/** A parent with a child that has one of its own beside one that asks a human. */
function family(db: Database, effects: string) {
  const effect = (what: string) =>
    step(what, ({ key }) => {
      appendFileSync(effects, `${what} ${key}\n`);
    });
  const leaf = durable(
    one(async (topic) => {
      await effect('leaf');
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
      await effect('asked');
      return [`asked ${topic}: ${String(interrupt('Well?'))}`];
    }),
    { db, version: 'asking' },
  );
  const parent = durable(
    one(async (id) => {
      await effect('before');
      const both = await Promise.all([
        child(middle, `${id}-middle`, { topic: `${id}-left` }),
        child(asking, `${id}-asking`, { topic: 'right' }),
      ]);
      const [again] = (await child(asking, `${id}-asking`, { topic: 'right' })).values?.log ?? [];
      await effect('after');
      return [...both.flatMap(({ values }) => values?.log ?? []), `again ${again}`];
    }),
    { db, version: 'parent' },
  );
  return { parent, asking };
}

/**
 * Lives a run to its end: every process that is started on the file does the same from the beginning.
 *
 * @param cancel - Ends it where a human would be asked.
 */
export async function raise(
  db: Database,
  id: string,
  { effects, cancel }: { readonly effects: string; readonly cancel: boolean },
): Promise<readonly string[]> {
  const { parent, asking } = family(db, effects);
  for (let looks = 0; looks < 20; looks += 1) {
    const ran = await parent.run(id, { topic: id });
    if (ran.status !== 'waiting') return [ran.status, ...(ran.values?.log ?? [])];
    if (cancel) await parent.cancel(id);
    else
      for (const gate of await asking.gates(`${id}-asking`))
        await asking.decide(gate, { value: 'yes', by: ada });
  }
  throw new Error('The run does not end.');
}

/** What the file says of a family: nobody is left over, nobody was begun twice, nobody ended twice. */
export function familyIn(db: Database, id: string) {
  const all = (sql: string): unknown =>
    db
      .prepare(sql)
      .raw()
      .all({ id, more: `${id}-%` });
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
