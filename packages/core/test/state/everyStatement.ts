import path from 'node:path';
import BetterSqlite3, { type Database, type Statement } from 'better-sqlite3';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { EngineStore } from '../../src/engine/gates/EngineStore.ts';
import { EventBus } from '../../src/events/events.ts';
import { aThread } from '../../src/state/__tests__/aThread.ts';
import { CheckpointPruner } from '../../src/state/checkpoints/CheckpointPruner.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { stateStats } from '../../src/state/doctor/fileSizes.ts';
import { StreamStore } from '../../src/state/events/StreamStore.ts';
import { GitPackStore } from '../../src/state/GitPackStore.ts';
import { labelTexts, UNLABELLED } from '../../src/state/labels/RunLabelStore.ts';
import { adoptRun, nameStateFile, readStateFileName } from '../../src/state/moving/movedRun.ts';
import { StoreItems } from '../../src/state/StoreItems.ts';
import { CountedDeaths } from '../../src/state/threads/driverDeaths.ts';
import { THREAD_STATUSES } from '../../src/state/threads/threadRecords.ts';
import { Orchestrator } from '../../src/surface/Orchestrator.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../src/testing/index.ts';

type Prepare = (this: Database, sql: string) => Statement;
const connections = BetterSqlite3.prototype as unknown as { prepare: Prepare };
const ADA = { kind: 'human', id: 'ada' } as const;

export interface Statements {
  /** What a run, its readers and its removal use. */
  readonly ofRuns: readonly string[];
  /** What looks at a whole file, because it was asked to. */
  readonly ofExamination: readonly string[];
}

/**
 * Every text that is prepared while a run is driven, and while every table is asked everything.
 *
 * @param named - Texts that tables have named so far: each is prepared when it is first executed.
 */
export async function everyStatement(dir: string, named: ReadonlySet<string>): Promise<Statements> {
  const used = await preparedWhile(() => driveOne(dir));
  const db = createDatabase({ dbPath: path.join(dir, 'state.sqlite') });
  const asked = await preparedWhile(async () => askEveryTable(db));
  const namedOfRuns = [...named];
  const examined = await preparedWhile(async () => {
    doctor(db);
    stateStats(db);
  });
  db.close();
  const ofRuns = [...new Set([...used, ...asked, ...namedOfRuns])];
  return { ofRuns, ofExamination: examined.filter((text) => !ofRuns.includes(text)) };
}

async function preparedWhile(work: () => Promise<void>): Promise<readonly string[]> {
  const real = connections.prepare;
  const texts = new Set<string>();
  connections.prepare = function (sql) {
    texts.add(sql);
    return real.call(this, sql);
  };
  try {
    await work();
  } finally {
    connections.prepare = real;
  }
  return [...texts];
}

/** A run from its brief to its removal. */
async function driveOne(dir: string): Promise<void> {
  const workspace = new MemoryWorkspace();
  const devs = await Orchestrator.open({ dir, agents: fakeAgents(), workspace, checks: scriptedChecks() });
  const run = await devs.start({ id: 'r', brief: '# B', gates: { design: 'auto', dag: 'auto' } });
  await run.resume();
  await run.rewind('T2', { by: ADA });
  await run.resume();
  await run.prune({ keepLast: 3 });
  await devs.remove('r', { by: ADA, force: true });
  devs.close();
}

/** Statements are prepared before it is looked at what they are given: that this makes no sense is no matter here. */
function askEveryTable(db: Database): void {
  const store = new EngineStore(db, { events: new EventBus() });
  const { manager: _, failureGate: __, budgets: ___, db: ____, ...tables } = store;
  new CountedDeaths(db, 1, Date.now());
  const pruner = new CheckpointPruner(db, store.checkpoints);
  const others = [pruner, new StoreItems(db), new StreamStore(db), new GitPackStore(db)];
  const { threadId } = store.threads.create(aThread()).thread;
  store.waits.begin({
    threadId,
    place: 'v',
    name: '1',
    purpose: 'sleep',
    subject: null,
    interruptId: 'i',
    dueAt: 1,
  });
  store.queue.insert(threadId, '2', { type: 'json', bytes: new Uint8Array() });
  const event = { name: 'RUN_FINISHED', payload: { outcome: 'completed' }, taskId: null, at: 0 } as const;
  store.webhooks.place('team', 0);
  store.webhooks.queue('team', { from: '0', to: '1', events: [{ ...event, threadId, seq: 1, cursor: '1' }] });
  store.webhooks.claim('team', { limit: 1, holdMs: 1 });
  adoptRun(threadId, db, db);
  readStateFileName(db);
  nameStateFile(db);
  findRuns(store);
  for (const table of [...Object.values(tables), store.threads.signals, ...others]) askEverything(table);
}

/** Lists are made for what they are asked. */
function findRuns({ directory, sessions, labels, threads }: EngineStore): void {
  const query = { since: 0, before: { at: 1, id: '' }, limit: 1, graph: null, due: false };
  const tags = { metadata: {}, tags: ['a', 'b'] };
  const { threadId } = threads.create({ ...aThread(), threadId: 'labelled' }).thread;
  const finds = [UNLABELLED, { labels: labelTexts(tags), idPrefix: '' }, { labels: [], idPrefix: 'l' }];
  for (const statuses of [THREAD_STATUSES, ['failed' as const]]) {
    for (const each of finds) {
      directory.page({ ...query, ...each, statuses });
      directory.page({ ...query, ...each, statuses, graph: 'g' });
      directory.page({ ...query, ...each, statuses, due: true });
      sessions.pageOpen(null, 1, each);
    }
  }
  labels.insert(threadId, tags);
  labels.inherit(threadId, threadId);
}

/** A text, a list and an object. */
const ANYTHING = new Proxy([] as object, { get: (list, key) => Reflect.get(list, key) ?? 'x' });

function askEverything(table: object): void {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(table)));
  for (const [name, { value: method }] of methods) {
    if (name === 'constructor' || typeof method !== 'function') continue;
    for (const given of ['x', ANYTHING, {}]) askOne(() => Reflect.apply(method, table, [given, given, 1, 1]));
  }
}

function askOne(question: () => unknown): void {
  try {
    const answer = question();
    if (answer instanceof Promise) answer.catch(() => undefined);
    if (typeof answer === 'object' && answer !== null && 'next' in answer) void [...(answer as Generator)];
  } catch {
    // Of no use, but prepared.
  }
}
