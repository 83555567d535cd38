import { emptyCheckpoint } from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { describe, expect, test, vi } from 'vitest';
import {
  CheckpointPersister,
  createDatabase,
  type LangGraphCheckpoint,
  SqliteSaver,
} from '../../src/index.ts';

// What specification 002 says of CheckpointPersister, from the exported names alone.

const aCheckpoint = (parts: Partial<LangGraphCheckpoint> = {}): LangGraphCheckpoint => ({
  id: 'c1',
  graphId: 'g',
  nodeName: 'implement',
  turnType: 'Thought',
  state: { step: 1 },
  taskId: 't1',
  createdAt: new Date(0),
  ...parts,
});

const countRows = (db: Database): unknown =>
  db.prepare('SELECT count(*) FROM langgraph_checkpoints').pluck().get();

/** `db.prepare().run()` throws, as the specification has it, until it is restored. */
function breakStatements(db: Database): () => void {
  const run = (): never => {
    throw new Error('mid-execution');
  };
  const broken = vi.spyOn(db, 'prepare').mockImplementation((() => ({ run })) as never);
  return () => broken.mockRestore();
}

describe('a save whose statement throws', () => {
  test('leaves no row, and the next save works, when it breaks after the class was made', () => {
    const db = createDatabase({ dbPath: ':memory:' });
    const turns = new CheckpointPersister(db);
    const mend = breakStatements(db);
    expect(() => turns.save(aCheckpoint())).toThrow('mid-execution');
    mend();
    expect(countRows(db)).toBe(0);
    turns.save(aCheckpoint());
    expect(turns.loadLatest('g')).toEqual(aCheckpoint());
  });

  test('leaves no row when it was broken before', () => {
    const db = createDatabase({ dbPath: ':memory:' });
    const mend = breakStatements(db);
    const turns = new CheckpointPersister(db);
    expect(() => turns.save(aCheckpoint())).toThrow('mid-execution');
    mend();
    expect(countRows(db)).toBe(0);
  });
});

test('save and put of the saver are a transaction of the driver each', async () => {
  const db = createDatabase({ dbPath: ':memory:' });
  const turns = new CheckpointPersister(db);
  const saver = new SqliteSaver(db);
  const transaction = vi.spyOn(db, 'transaction');
  turns.save(aCheckpoint());
  turns.save(aCheckpoint({ id: 'c2', turnType: 'Action' }));
  expect(transaction).toHaveBeenCalledTimes(2);
  const metadata = { source: 'input', step: -1, parents: {} } as const;
  await saver.put({ configurable: { thread_id: 't' } }, emptyCheckpoint(), metadata);
  expect(transaction).toHaveBeenCalledTimes(3);
});

test('deleteAfter takes more tasks than a statement takes values', () => {
  const db = createDatabase({ dbPath: ':memory:' });
  const turns = new CheckpointPersister(db);
  const tasks = Array.from({ length: 40_000 }, (_, index) => `t${index}`);
  for (const at of [0, 1, 9_999, 10_000, 10_001, 39_999])
    turns.save(aCheckpoint({ id: `c${at}`, taskId: `t${at}` }));
  turns.deleteAfter('t1', tasks);
  const left = db.prepare('SELECT task_id FROM langgraph_checkpoints').pluck().all();
  expect(left).toEqual(['t0', 't1']);
});
