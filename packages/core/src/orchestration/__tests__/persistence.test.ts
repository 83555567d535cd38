import { existsSync } from 'node:fs';
import { Command, isInterrupted } from '@langchain/langgraph';
import type { CheckpointListOptions, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { Child } from '../../state/__tests__/Child.ts';
import { CheckpointPersister } from '../../state/CheckpointPersister.ts';
import { OrchestrationGraph } from '../graph.ts';
import { SqliteSaver } from '../SqliteSaver.ts';
import type { GraphState } from '../types.ts';
import { aPlannedState, aState } from './aState.ts';

const RUN_TO_GATE = new URL('./runToGate.child.ts', import.meta.url);
const RESUME = new URL('./resume.child.ts', import.meta.url);

const SHOP = OrchestrationGraph.configForProject('shop');
const yes = { approved: true, approvedAt: '2026-01-02T03:04:05.000Z' };

interface CheckpointRow {
  readonly thread_id: string;
  readonly checkpoint_id: string;
  readonly parent_checkpoint_id: string | null;
  readonly checkpoint: Uint8Array;
}

/** As they were committed: how many writes are on top of one grows. */
const rowsOf = (db: Database, threadId = 'shop'): readonly CheckpointRow[] =>
  db
    .prepare<[string], CheckpointRow>(
      'SELECT *, NULL AS writes FROM checkpoints WHERE thread_id = ? ORDER BY seq',
    )
    .all(threadId);

const countOf = (db: Database, table: string, threadId: string): unknown =>
  db.prepare(`SELECT count(*) FROM ${table} WHERE thread_id = ?`).pluck().get(threadId);

/** The same file over another connection, as after a restart. */
function reconnect(dbPath: string): Database {
  const db = createDatabase({ dbPath });
  onTestFinished(() => void db.close());
  return db;
}

const valuesIn = async (og: OrchestrationGraph): Promise<GraphState> =>
  (await og.graph.getState(SHOP)).values as GraphState;

async function historyIn(db: Database, options: CheckpointListOptions = {}): Promise<CheckpointTuple[]> {
  const history: CheckpointTuple[] = [];
  for await (const tuple of new SqliteSaver(db).list(SHOP, options)) history.push(tuple);
  return history;
}

/** Answers every gate of the shop with yes until it has ended. */
async function approveAll(og: OrchestrationGraph): Promise<GraphState> {
  let state = await og.graph.invoke(new Command({ resume: yes }), SHOP);
  while (isInterrupted(state)) state = await og.graph.invoke(new Command({ resume: yes }), SHOP);
  return state;
}

describe('WAL mode', () => {
  test('is on for the state file, and its log lies beside it', async ({ db, dbPath }) => {
    await OrchestrationGraph.withSqlitePersistence(db).graph.invoke(aState(), SHOP);
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(existsSync(`${dbPath}-wal`)).toBe(true);
  });

  test('is on for a second connection, which reads while the first one writes', async ({ db, dbPath }) => {
    const reader = reconnect(dbPath);
    const readOnce = reader.prepare('SELECT count(*) FROM checkpoints').pluck();
    const counts = [readOnce.get()];
    await OrchestrationGraph.withSqlitePersistence(db).graph.invoke(aState(), SHOP);
    counts.push(readOnce.get());
    expect(reader.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(counts[0]).toBe(0);
    expect(counts[1]).toBeGreaterThan(0);
  });
});

describe('node transition checkpointing', () => {
  test('writes a checkpoint for the input and one for every node that has finished', async ({ db }) => {
    const og = OrchestrationGraph.withSqlitePersistence(db);
    await og.graph.invoke(aState(), SHOP); // input, start, research, design
    expect(rowsOf(db)).toHaveLength(4);
    await og.graph.invoke(new Command({ resume: yes }), SHOP); // approveDesign, distill
    expect(rowsOf(db)).toHaveLength(6);
  });

  test('chains each checkpoint to the one before', async ({ db }) => {
    const og = OrchestrationGraph.withSqlitePersistence(db);
    await og.graph.invoke(aPlannedState(), SHOP);
    await approveAll(og);
    const rows = rowsOf(db);
    expect(rows.map(({ parent_checkpoint_id }) => parent_checkpoint_id)).toEqual([
      null,
      ...rows.slice(0, -1).map(({ checkpoint_id }) => checkpoint_id),
    ]);
  });

  test('keeps projects apart by thread_id', async ({ db }) => {
    const og = OrchestrationGraph.withSqlitePersistence(db);
    const other = OrchestrationGraph.configForProject('bank');
    await og.graph.invoke(aPlannedState(), SHOP);
    await og.graph.invoke(aState(), other);
    await og.graph.invoke(new Command({ resume: yes }), other);
    expect((await valuesIn(og)).hitlDecisions).toEqual([]);
    expect((await og.graph.getState(other)).values).toMatchObject({ tasks: [], status: 'planning' });
    expect(rowsOf(db, 'bank').map(({ thread_id }) => thread_id)).not.toContain('shop');
  });

  test('journals every visit of a node as Thought and Action', async ({ db }) => {
    const og = OrchestrationGraph.withSqlitePersistence(db);
    await og.graph.invoke(aState(), SHOP);
    const turns = new CheckpointPersister(db).loadForTask('shop');
    expect(turns.map(({ nodeName, turnType }) => `${nodeName} ${turnType}`)).toEqual([
      'research Thought',
      'research Action',
      'design Thought',
      'design Action',
      'approveDesign Thought',
    ]);
    expect(turns.every(({ graphId }) => graphId === 'shop')).toBe(true);
  });
});

describe('withSqlitePersistence and configForProject', () => {
  test('make a graph that suspends at its first gate and shows it as LangGraph does', async ({ db }) => {
    const og = OrchestrationGraph.withSqlitePersistence(db);
    expect(og).toBeInstanceOf(OrchestrationGraph);
    expect(isInterrupted(await og.graph.invoke(aState(), SHOP))).toBe(true);
    expect(rowsOf(db)).not.toEqual([]);
    const { next, tasks } = await og.graph.getState(SHOP);
    expect(next).toEqual(['approveDesign']);
    expect(tasks.flatMap(({ interrupts }) => interrupts)).toMatchObject([
      { value: { gate: 'design_approval' } },
    ]);
  });

  test('name the project as the thread, and nothing else', () => {
    expect(OrchestrationGraph.configForProject('project-abc')).toEqual({
      configurable: { thread_id: 'project-abc' },
    });
  });
});

describe('complex state serialization', () => {
  test('a DAG of requirements comes back equal, over a new connection', async ({ db, dbPath }) => {
    const planned = aPlannedState();
    await OrchestrationGraph.withSqlitePersistence(db).graph.invoke(planned, SHOP);
    const { requirements, tasks, epics } = await valuesIn(
      OrchestrationGraph.withSqlitePersistence(reconnect(dbPath)),
    );
    expect({ requirements, tasks, epics }).toEqual({
      requirements: planned.requirements,
      tasks: planned.tasks,
      epics: planned.epics,
    });
  });

  test('every channel of every checkpoint comes back equal, and every row byte for byte', async ({
    db,
    dbPath,
  }) => {
    const og = OrchestrationGraph.withSqlitePersistence(db);
    await og.graph.invoke(aPlannedState(), SHOP);
    await approveAll(og);
    const before = await historyIn(db);
    const again = reconnect(dbPath);
    expect(await historyIn(again)).toEqual(before);
    expect(rowsOf(again)).toEqual(rowsOf(db));
  });
});

describe('crash recovery', () => {
  test('a new connection resumes at the gate where the old one was lost', async ({ db, dbPath }) => {
    await OrchestrationGraph.withSqlitePersistence(db).graph.invoke(aState(), SHOP);
    db.close();
    const og = OrchestrationGraph.withSqlitePersistence(reconnect(dbPath));
    const resumed = await og.graph.invoke(new Command({ resume: yes }), SHOP);
    expect(resumed).toMatchObject({ status: 'planning', hitlDecisions: [{ gate: 'design_approval' }] });
  });

  test('a new process resumes what a killed one left, to the end', { timeout: 30_000 }, async ({
    dbPath,
  }) => {
    const first = new Child(RUN_TO_GATE, dbPath, 'shop');
    onTestFinished(() => first.kill());
    expect(await first.read<string>()).toBe('suspended');
    await first.kill('SIGKILL');
    expect(first.process.signalCode).toBe('SIGKILL');

    const second = new Child(RESUME, dbPath, 'shop');
    onTestFinished(() => second.kill());
    const end = await second.read<GraphState>();
    expect(end).toMatchObject({ status: 'completed', projectConfig: { status: 'completed' } });
    expect(end.tasks.map(({ status }) => status)).toEqual(aPlannedState().tasks.map(() => 'completed'));
    expect(end.hitlDecisions.map(({ gate }) => gate)).toEqual(['design_approval', 'dag_approval']);
    expect(end.requirements).toEqual(aPlannedState().requirements);
  });

  test('nothing that was committed is lost or done again', async ({ db, dbPath }) => {
    await OrchestrationGraph.withSqlitePersistence(db).graph.invoke(aPlannedState(), SHOP);
    const committed = rowsOf(db);
    db.close();
    const again = reconnect(dbPath);
    const og = OrchestrationGraph.withSqlitePersistence(again);
    await approveAll(og);
    expect(rowsOf(again).slice(0, committed.length)).toEqual(committed);
    const nodes = new CheckpointPersister(again)
      .loadForTask('shop')
      .filter(({ turnType }) => turnType === 'Action')
      .map(({ nodeName }) => nodeName);
    expect(nodes).toEqual(['research', 'design', 'approveDesign', 'distill', 'approveTaskDag']);
  });
});

describe('ACID', () => {
  test('the tables of checkpoints, writes and values exist, also in a database of one’s own', ({ db }) => {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
    expect(tables).toEqual(
      expect.arrayContaining([
        'checkpoints',
        'checkpoint_writes',
        'checkpoint_blobs',
        'langgraph_checkpoints',
      ]),
    );
  });

  test('deleteThread removes everything of one project and nothing of another', async ({ db }) => {
    const og = OrchestrationGraph.withSqlitePersistence(db);
    const other = OrchestrationGraph.configForProject('bank');
    await og.graph.invoke(aPlannedState(), SHOP);
    await og.graph.invoke(aPlannedState(), other);
    const kept = rowsOf(db, 'bank');
    await new SqliteSaver(db).deleteThread('shop');
    for (const table of ['checkpoints', 'checkpoint_writes', 'checkpoint_blobs']) {
      expect([table, countOf(db, table, 'shop')]).toEqual([table, 0]);
    }
    expect(rowsOf(db, 'bank')).toEqual(kept);
    expect((await og.graph.invoke(new Command({ resume: yes }), other)).status).toBe('planning');
  });

  test('a write that fails leaves no part of itself, and the run goes on from before it', async ({ db }) => {
    const og = OrchestrationGraph.withSqlitePersistence(db);
    await og.graph.invoke(aState(), SHOP);
    const before = rowsOf(db);
    const values = db.prepare('SELECT count(*) FROM checkpoint_blobs').pluck();
    const valuesBefore = values.get();
    db.exec(
      "CREATE TEMP TRIGGER full BEFORE INSERT ON checkpoint_blobs BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    await expect(og.graph.invoke(new Command({ resume: yes }), SHOP)).rejects.toThrow(/full/);
    expect([rowsOf(db), values.get()]).toEqual([before, valuesBefore]);
    db.exec('DROP TRIGGER full');
    expect((await og.graph.invoke(new Command({ resume: yes }), SHOP)).hitlDecisions).toHaveLength(1);
  });
});

describe('list()', () => {
  test('is the history of a project, newest first, one entry per transition', async ({ db }) => {
    const og = OrchestrationGraph.withSqlitePersistence(db);
    await og.graph.invoke(aPlannedState(), SHOP);
    await approveAll(og);
    const history = await historyIn(db);
    const steps = history.map(({ metadata }) => metadata?.step ?? Number.NaN);
    expect(steps).toEqual([...steps].sort((a, b) => b - a));
    expect(steps.at(-1)).toBe(-1);
    const statuses = history.map(({ checkpoint }) => checkpoint.channel_values['status']);
    expect([...new Set(statuses.reverse())]).toEqual([
      'initializing',
      'researching',
      'specifying',
      'planning',
      'implementing',
      'completed',
    ]);
    const newest = await historyIn(db, { limit: 1 });
    expect(only(newest).checkpoint.id).toBe(history[0]?.checkpoint.id);
  });
});
