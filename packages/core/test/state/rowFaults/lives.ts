import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { createDatabase, openStateCopy } from '../../../src/db/createDatabase.ts';
import { ada, bob } from '../../../src/engine/__tests__/ownGraph.ts';
import { durable } from '../../../src/engine/app/durable.ts';
import type { Gate } from '../../../src/engine/gates/Gate.ts';
import { step } from '../../../src/engine/node/step.ts';
import { children } from '../../crash/scenarios/children.ts';
import type { Process } from '../../crash/scenarios/Scenario.ts';
import { waits } from '../../crash/scenarios/waits.ts';
import { RECORDED_RUNS, type RecordedRun } from '../../drive/recordedRuns.ts';
import { interceptStatements } from '../../support/interceptStatements.ts';

/** What a run has come to. */
export interface Outcome {
  readonly status: string;
  readonly values: unknown;
  /** Every gate that a human was asked at, in the order of its text. */
  readonly asked: readonly string[];
}

/** A run from wherever a file has it to its end, with a human who always says the same. */
export interface Life {
  readonly name: string;
  readonly live: (db: Database) => Promise<Outcome>;
}

/** A file as some commit has left it, as if the process had died there, and what comes of it when it is sound. */
export interface Moment {
  readonly life: Life;
  readonly file: Buffer;
  readonly sound: Outcome;
}

const MOST_DRIVES = 20;

/** Without ids, which are new whenever something is done again. */
const comparable = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/g, 'ID'));

interface Drivable {
  drive(): Promise<{ readonly status: string; readonly gates: readonly Gate[]; readonly values: unknown }>;
  decide(gate: Gate, answer: object): Promise<unknown>;
}

/** Drives and answers until the run has ended. */
async function toTheEnd(driven: Drivable, answer: (gate: Gate) => readonly object[]): Promise<Outcome> {
  const asked: string[] = [];
  for (let drives = 0; drives < MOST_DRIVES; drives += 1) {
    const { status, gates, values } = await driven.drive();
    if (status !== 'waiting') return { status, values: comparable(values), asked: asked.sort() };
    for (const gate of gates) {
      asked.push(`${gate.kind}: ${JSON.stringify(comparable(gate.artifact))}`);
      for (const given of answer(gate)) await driven.decide(gate, given);
    }
  }
  throw new Error('The run does not end.');
}

function recorded({ name, open, answer, workspace }: RecordedRun): Life {
  const live = async (db: Database): Promise<Outcome> => {
    const driven = await open(db, workspace);
    return toTheEnd(driven, (gate) => [answer(gate)]);
  };
  return { name, live };
}

const Post = Annotation.Root({
  topic: Annotation<string>(),
  /** Shown at no gate. */
  hidden: Annotation<string>(),
  draft: Annotation<string>(),
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

/** More than a row takes, and a little different each time. */
const text = (topic: string, end: string): string => `${`${topic} `.repeat(200)}${end}`;

/** Two votes, a graph inside a node with a question of its own, large values, values that no gate shows, results of calls. */
function post() {
  const inner = new StateGraph(Post)
    .addNode('outline', async ({ topic }) => ({ draft: await step('model', () => text(topic, 'outlined')) }))
    .addNode('review', ({ draft }) => ({ log: [`review ${draft.length}: ${String(interrupt('Good?'))}`] }))
    .addEdge(START, 'outline')
    .addEdge('outline', 'review')
    .addEdge('review', END)
    .compile();
  return new StateGraph(Post)
    .addNode('plan', async ({ topic }) => ({
      hidden: await step('key', () => `key of ${topic}`),
      log: [await step('plan', () => text(topic, 'planned'))],
    }))
    .addNode('write', inner)
    .addNode('publish', async ({ hidden, draft }) => ({
      log: [await step('publish', () => `published ${draft.slice(-8)} with ${hidden}`)],
    }))
    .addNode('tell', ({ hidden, log }) => ({ hidden: '', log: [`told of ${log.length} with ${hidden}`] }))
    .addEdge(START, 'plan')
    .addEdge('plan', 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', 'tell')
    .addEdge('tell', END);
}

/** In two turns. */
const posts: Life = {
  name: 'a post in two turns',
  live: async (db) => {
    const approvals = { of: ['ada', 'bob'], count: 2 };
    const app = durable(post(), {
      db,
      gates: {
        publish: { show: ({ topic }) => topic, approvals },
        tell: { show: ({ log }) => log.length },
      },
    });
    const answer = (gate: Gate): readonly object[] => {
      if (gate.kind === 'interrupt') return [{ value: 'yes', by: ada }];
      const voted = (gate.votes ?? []).map(({ principal }) => principal);
      return [ada, bob]
        .filter(({ id }) => gate.takes?.approvals !== undefined || id === 'ada')
        .filter(({ id }) => !voted.includes(`human:${id}`))
        .map((by) => ({ approved: true, by }));
    };
    const decide = (gate: Gate, given: object): Promise<unknown> => app.decide(gate, given as never);
    const first = await toTheEnd({ decide, drive: () => app.run('post', { topic: 'one' } as never) }, answer);
    const turn = { turn: 'second' };
    const drive = (): ReturnType<Drivable['drive']> =>
      app.run('post', { topic: 'two' } as never, turn as never);
    const second = await toTheEnd({ decide, drive }, answer);
    return { ...second, asked: [...first.asked, ...second.asked] };
  },
};

/** What a graph has kept beyond its run, and reads after a human was asked. */
const remembered: Life = {
  name: 'a store',
  live: (db) => {
    const graph = new StateGraph(Post)
      .addNode('keep', async ({ topic }, { store }) => {
        for (const [at, word] of ['first', 'second', 'third'].entries())
          await store?.put(['posts', topic], word, { at });
        return { log: ['kept'] };
      })
      .addNode('publish', async ({ topic }, { store }) => {
        const one = await store?.get(['posts', topic], 'second');
        const all = await store?.search(['posts', topic]);
        return { log: [`${JSON.stringify(one?.value)} of ${JSON.stringify(all?.map(({ key }) => key))}`] };
      })
      .addEdge(START, 'keep')
      .addEdge('keep', 'publish')
      .addEdge('publish', END);
    const app = durable(graph, { db, store: 'file', gates: { publish: ({ topic }) => topic } });
    const drive = (): ReturnType<Drivable['drive']> => app.run('run', { topic: 'one' });
    const decide = (gate: Gate, given: object): Promise<unknown> => app.decide(gate, given as never);
    return toTheEnd({ drive, decide }, () => [{ approved: true, by: ada }]);
  },
};

/** Of what it does outside of the file nothing is asked. */
const alone = (db: Database): Process => ({ db, durable, effect: () => {}, moment: () => {} });

const waiting: Life = {
  name: 'waits',
  live: async (db) => ({ status: 'completed', values: await waits.start(alone(db))('run'), asked: [] }),
};

const family: Life = {
  name: 'children',
  live: async (db) => {
    const [status = '', ...log] = (await children.start(alone(db))('run')) as readonly string[];
    if (status !== 'completed') throw new Error(`The run is ${status}.`);
    return { status, values: log, asked: [] };
  },
};

const OWN = RECORDED_RUNS.filter(({ name }) => !/pipeline|pivots/.test(name)).map(recorded);

export const LIVES: readonly Life[] = [posts, waiting, family, remembered, ...OWN];

/** Lives a run once and keeps its file as some of its commits have left it, the last one among them. */
export async function momentsOf(life: Life, most: number): Promise<readonly Moment[]> {
  const db = createDatabase({ dbPath: ':memory:' });
  let files: Buffer[] = [];
  let every = 1;
  let commits = 0;
  const keep = (): void => {
    commits += 1;
    if (commits % every !== 0) return;
    files.push(db.serialize());
    if (files.length <= most) return;
    files = files.filter((_, at) => at % 2 === 1);
    every *= 2;
  };
  interceptStatements(
    db,
    (work, { source }) => {
      const done = work();
      if (source === 'COMMIT' && !db.inTransaction) keep();
      return done;
    },
    { controls: true },
  );
  const whole = await life.live(db);
  files.push(db.serialize());
  db.close();
  const moments: Moment[] = [];
  for (const file of files.map(asLeft)) {
    const sound = await goOn({ life, file });
    if (sound.status !== whole.status || JSON.stringify(sound.values) !== JSON.stringify(whole.values))
      throw new Error(`${life.name} comes to ${JSON.stringify(sound)}, not ${JSON.stringify(whole)}`);
    moments.push({ life, file, sound });
  }
  return moments;
}

/** As a process leaves it that died: nobody has the run. */
function asLeft(file: Buffer): Buffer {
  const db = openStateCopy(file);
  db.exec('UPDATE threads SET lease_owner = NULL');
  const left = db.serialize();
  db.close();
  return left;
}

/** Lives the run of a file to its end. */
export async function goOn({ life, file }: Pick<Moment, 'life' | 'file'>): Promise<Outcome> {
  const db = openStateCopy(file);
  try {
    return await life.live(db);
  } finally {
    db.close();
  }
}
