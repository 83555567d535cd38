import { createHash } from 'node:crypto';
import BetterSqlite3 from 'better-sqlite3';
import { beforeEach, describe, expect, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { interceptStatements } from '../../../test/support/interceptStatements.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { EventBus } from '../../events/events.ts';
import { CheckpointPersister } from '../CheckpointPersister.ts';
import { RunRemover } from '../runs/RunRemover.ts';
import { StateFile } from '../StateFile.ts';
import type { LangGraphCheckpoint } from '../types.ts';

// Source: 9_ROADMAP-REQ-014.

const REQUIRED_DDL = `
  CREATE TABLE langgraph_checkpoints (
    id TEXT PRIMARY KEY,
    graph_id TEXT NOT NULL,
    node_name TEXT NOT NULL,
    turn_type TEXT NOT NULL CHECK(turn_type IN ('Thought','Action')),
    serialized_state TEXT NOT NULL,
    task_id TEXT NOT NULL,
    created_at TEXT NOT NULL
  )`;

let nextId = 0;
beforeEach(() => {
  nextId = 0;
});

/** A valid turn; a test names only the fields it is about. */
function aTurn(overrides: Partial<LangGraphCheckpoint> = {}): LangGraphCheckpoint {
  nextId += 1;
  return {
    id: `turn-${nextId}`,
    graphId: 'graph-1',
    nodeName: 'implement',
    turnType: 'Thought',
    state: { step: nextId },
    taskId: 'task-1',
    createdAt: new Date('2026-01-01T00:00:00.000Z'),
    ...overrides,
  };
}

const largeState = { prose: 'word '.repeat(4000), list: [1, 2, 3], small: 'x', nothing: null };
const idsOf = (turns: readonly LangGraphCheckpoint[]): string[] => turns.map(({ id }) => id);

describe('save', () => {
  test('inserts a row with the seven required columns', ({ db }) => {
    new CheckpointPersister(db).save(aTurn({ state: { a: 1, skipped: undefined }, turnType: 'Action' }));
    expect(db.prepare('SELECT * FROM langgraph_checkpoints').get()).toEqual({
      id: 'turn-1',
      graph_id: 'graph-1',
      node_name: 'implement',
      turn_type: 'Action',
      serialized_state: '{"a":1}',
      task_id: 'task-1',
      created_at: '2026-01-01T00:00:00.000Z',
      visit: null,
      sha256: createHash('sha256').update('{"a":1}').digest(),
    });
  });

  test('works in a table with the required columns only', () => {
    const db = new BetterSqlite3(':memory:');
    db.exec(REQUIRED_DDL);
    const turns = new CheckpointPersister(db);
    const written = [aTurn(), aTurn({ state: largeState }), aTurn({ state: { ...largeState, $devs: 1 } })];
    for (const turn of written) turns.save({ ...turn, visit: 'has no column' });
    expect(turns.loadForTask('task-1')).toEqual(written);
    expect(new CheckpointPersister(db).loadLatest('graph-1')).toEqual(written.at(-1));
    const texts = db.prepare('SELECT serialized_state FROM langgraph_checkpoints').pluck().all();
    expect(texts[1]).toBe(JSON.stringify(largeState));
    db.close();
  });

  test('stores the visit that pairs two turns', ({ db }) => {
    const turns = new CheckpointPersister(db);
    const [first, second] = [aTurn({ visit: 'visit-1' }), aTurn({ visit: 'visit-1', turnType: 'Action' })];
    turns.save(first);
    turns.save(second);
    expect(turns.loadForTask('task-1')).toEqual([first, second]);
  });

  test('leaves no partial row when the statement throws', ({ db }) => {
    const prepare = db.prepare;
    let written = 0;
    interceptStatements(db, (work, { source }) => {
      if (/^\s*INSERT INTO langgraph_checkpoints/.test(source)) throw new Error('disk on fire');
      if (/^\s*INSERT/.test(source)) written += 1;
      return work();
    });
    const turns = new CheckpointPersister(db);
    expect(() => turns.save(aTurn())).toThrow('disk on fire');
    expect(() => turns.save(aTurn({ state: largeState }))).toThrow('disk on fire');
    expect(written, 'the large field is written before its row').toBe(1);
    db.prepare = prepare;

    expect(db.prepare('SELECT count(*) FROM langgraph_checkpoints').pluck().get()).toBe(0);
    expect(db.prepare('SELECT count(*) FROM state_blobs').pluck().get()).toBe(0);
    expect(db.inTransaction).toBe(false);
  });

  test('takes back the blobs of a row that is refused', ({ db }) => {
    const turns = new CheckpointPersister(db);
    turns.save(aTurn({ id: 'taken' }));
    expect(() => turns.save(aTurn({ id: 'taken', state: largeState }))).toThrow(/UNIQUE/);
    expect(db.prepare('SELECT count(*) FROM state_blobs').pluck().get()).toBe(0);
    expect(turns.loadForTask('task-1')).toHaveLength(1);
  });

  test('refuses a state that is not JSON before it opens a transaction', ({ db }) => {
    const state: Record<string, unknown> = {};
    state['self'] = state;
    expect(() => new CheckpointPersister(db).save(aTurn({ state }))).toThrow(TypeError);
    expect(db.inTransaction).toBe(false);
  });

  test('asks its fence inside the transaction', ({ db }) => {
    const refusal = new DevsError('a newer driver', { code: 'LEASE_LOST', remedy: 'none' });
    const inTransaction: boolean[] = [];
    const fence = {
      assertInTx: () => {
        inTransaction.push(db.inTransaction);
        throw refusal;
      },
    };
    const turns = new CheckpointPersister(db, { fence });
    expect(() => turns.save(aTurn())).toThrow(refusal);
    expect(() => turns.deleteAfter('task-1', ['task-1', 'task-2'])).toThrow(refusal);
    expect(inTransaction).toEqual([true, true]);
    expect(turns.loadLatest('graph-1')).toBeNull();
  });

  test('types the faults of the file', ({ db, dbPath }) => {
    new CheckpointPersister(db).save(aTurn());
    const reader = new BetterSqlite3(dbPath, { readonly: true });
    const turns = new CheckpointPersister(reader);
    expect(() => turns.save(aTurn())).toThrow(expect.objectContaining({ code: 'STATE_IO' }));
    reader.close();
  });
});

describe('large states', () => {
  test('are the JSON itself up to 8 KiB and come back equal on both sides of it', ({ db }) => {
    const turns = new CheckpointPersister(db);
    const text = db
      .prepare<[string], string>('SELECT serialized_state FROM langgraph_checkpoints WHERE id = ?')
      .pluck();
    // {"text":""} is 11 bytes around the text; an é is two bytes.
    for (const [length, whole] of [
      [8181, true],
      [8182, false],
    ] as const) {
      const state = { text: 'é'.repeat(100) + 'x'.repeat(length - 200) };
      const turn = aTurn({ state });
      turns.save(turn);
      expect(text.get(turn.id) === JSON.stringify(state)).toBe(whole);
      expect(turns.loadLatest('graph-1')?.state).toEqual(state);
    }
  });

  test('keep references to their large fields, which turns share', ({ db }) => {
    const turns = new CheckpointPersister(db);
    turns.save(aTurn({ state: largeState }));
    turns.save(aTurn({ state: { ...largeState, small: 'y' }, turnType: 'Action' }));
    const rows = db.prepare<[], string>('SELECT serialized_state FROM langgraph_checkpoints').pluck().all();
    expect(rows.every((row) => row.length < 300)).toBe(true);
    expect(db.prepare('SELECT count(*) FROM state_blobs').pluck().get()).toBe(1);
    expect(turns.loadForTask('task-1').map(({ state }) => state)).toEqual([
      largeState,
      { ...largeState, small: 'y' },
    ]);
  });

  test('make a text JSON once while it stays the same, and all else as it is now', ({ db }) => {
    const turns = new CheckpointPersister(db);
    const stringify = vi.spyOn(JSON, 'stringify');
    const list = largeState.list.map((number) => `${number} ${'of many '.repeat(20)}`);
    turns.save(aTurn({ state: { ...largeState, list } }));
    list.push('one more');
    turns.save(aTurn({ state: { ...largeState, list } }));
    turns.save(
      aTurn({ state: { ...largeState, prose: `${largeState.prose}and on`, list: largeState.prose } }),
    );
    const made = stringify.mock.calls.map(([value]) => value).filter((value) => value === largeState.prose);
    stringify.mockRestore();
    expect(made).toHaveLength(2);
    expect(turns.loadForTask('task-1').map(({ state }) => state)).toEqual([
      { ...largeState, list: list.slice(0, -1) },
      { ...largeState, list },
      { ...largeState, prose: `${largeState.prose}and on`, list: largeState.prose },
    ]);
  });

  test('are stored again when the turn before was deleted meanwhile, and its values with it', ({ db }) => {
    const turns = new CheckpointPersister(db);
    turns.save(aTurn({ state: largeState, taskId: 'task-2' }));
    turns.deleteAfter('task-1', ['task-1', 'task-2']);
    new RunRemover(db, new StateFile(db, { events: new EventBus() })).sweep();
    turns.save(aTurn({ state: largeState }));
    expect(turns.loadLatest('graph-1')?.state).toEqual(largeState);
  });

  test('are stored again when the turn before was rolled back', ({ db }) => {
    const turns = new CheckpointPersister(db);
    const rolledBack = db.transaction(() => {
      turns.save(aTurn({ state: largeState }));
      throw new Error('no');
    });
    expect(rolledBack).toThrow('no');
    turns.save(aTurn({ state: { ...largeState, prose: 'other '.repeat(4000) } }));
    turns.save(aTurn({ state: largeState }));
    expect(turns.loadLatest('graph-1')?.state).toEqual(largeState);
  });

  test('are made JSON once, also where several turns are staged before the first is written', ({ db }) => {
    const turns = new CheckpointPersister(db);
    const stringify = vi.spyOn(JSON, 'stringify');
    const staged = [1, 2, 3].map((step) => turns.stage(aTurn({ state: { ...largeState, step } })));
    for (const write of staged) write();
    turns.save(aTurn({ state: largeState }));
    expect(stringify.mock.calls.filter(([value]) => value === largeState.prose)).toHaveLength(1);
    stringify.mockRestore();
    expect(db.prepare('SELECT count(*) FROM state_blobs').pluck().get()).toBe(1);
    expect(turns.loadLatest('graph-1')?.state).toEqual(largeState);
  });

  test('drop undefined fields as JSON.stringify does', ({ db }) => {
    const turns = new CheckpointPersister(db);
    turns.save(aTurn({ state: { ...largeState, gone: undefined } }));
    expect(turns.loadLatest('graph-1')?.state).toEqual(largeState);
    expect(Object.keys(turns.loadLatest('graph-1')?.state ?? {})).not.toContain('gone');
  });

  test('a state with a field named like the mark is not taken for a manifest', ({ db }) => {
    const turns = new CheckpointPersister(db);
    const state = { $devs: 1, channels: { tasks: 99 }, fields: {} };
    turns.save(aTurn({ state }));
    expect(turns.loadLatest('graph-1')?.state).toEqual(state);
  });

  test('keep a field named __proto__ as a field', ({ db }) => {
    const turns = new CheckpointPersister(db);
    const state = JSON.parse(`{"__proto__":{"approved":true},"text":"${'x'.repeat(9000)}"}`);
    turns.save(aTurn({ state }));
    const loaded = turns.loadLatest('graph-1')?.state ?? {};
    expect(Object.hasOwn(loaded, '__proto__')).toBe(true);
    expect(loaded['approved']).toBeUndefined();
  });

  test.each([
    ['text that is no JSON', 'not json'],
    ['an unknown manifest', '{"$devs":2,"fields":{},"channels":{}}'],
    ['a manifest without channels', '{"$devs":1,"fields":{}}'],
    ['a missing blob', '{"$devs":1,"fields":{},"channels":{"tasks":7}}'],
  ])('report %s as corruption', (_, serialized) => {
    const db = createDatabase({ dbPath: ':memory:' });
    const turns = new CheckpointPersister(db);
    turns.save(aTurn());
    db.pragma('ignore_check_constraints = ON');
    db.prepare('UPDATE langgraph_checkpoints SET serialized_state = ?').run(serialized);
    expect(() => turns.loadLatest('graph-1')).toThrow(expect.objectContaining({ code: 'STATE_CORRUPT' }));
    db.close();
  });
});

describe('a text that is no longer the one that was written', () => {
  const flipped = [
    ['a small state', { approved: 0 }, '"approved":0', '"approved":1'],
    ['the id of a blob', { ...largeState, $devs: 0 }, '"prose":1', '"prose":2'],
  ] as const;

  test.for(flipped)('is refused: %s', ([, state, from, to], { db }) => {
    const turns = new CheckpointPersister(db);
    turns.save(aTurn({ state }));
    turns.save(aTurn({ graphId: 'graph-2', state: { other: largeState } })); // blob 2
    db.prepare('UPDATE langgraph_checkpoints SET serialized_state = replace(serialized_state, ?, ?)').run(
      from,
      to,
    );
    const refusal = expect.objectContaining({ code: 'STATE_CORRUPT' });
    expect(() => turns.loadLatest('graph-1')).toThrow(refusal);
    expect(() => turns.loadForTask('task-1')).toThrow(refusal);
    expect(turns.loadLatest('graph-2')?.state).toEqual({ other: largeState });
  });

  test('cannot be told in a row of an older engine, which stays readable', ({ db }) => {
    const turns = new CheckpointPersister(db);
    const turn = aTurn({ state: largeState });
    turns.save(turn);
    db.exec('UPDATE langgraph_checkpoints SET sha256 = NULL');
    expect(turns.loadLatest('graph-1')).toEqual(turn);
  });
});

describe('loadLatest', () => {
  test('returns the turn with the highest rowid of its own graph', ({ db }) => {
    const turns = new CheckpointPersister(db);
    turns.save(aTurn({ id: 'first', createdAt: new Date('2030-01-01T00:00:00.000Z') }));
    turns.save(aTurn({ id: 'second', createdAt: new Date('2020-01-01T00:00:00.000Z') }));
    turns.save(aTurn({ id: 'other', graphId: 'graph-2' }));
    expect(turns.loadLatest('graph-1')?.id).toBe('second');
  });

  test('returns null when the graph has no turn', ({ db }) => {
    expect(new CheckpointPersister(db).loadLatest('graph-1')).toBeNull();
  });
});

describe('loadForTask', () => {
  test('returns the turns of the task in the order they were written', ({ db }) => {
    const turns = new CheckpointPersister(db);
    for (const id of ['c', 'a', 'b']) turns.save(aTurn({ id }));
    turns.save(aTurn({ id: 'elsewhere', taskId: 'task-2' }));
    expect(idsOf(turns.loadForTask('task-1'))).toEqual(['c', 'a', 'b']);
    expect(turns.loadForTask('task-9')).toEqual([]);
  });
});

describe('deleteAfter', () => {
  const order = ['task-1', 'task-10', 'task-2', "task'3"];

  test('removes the turns of every task after the target in the given order', ({ db }) => {
    const turns = new CheckpointPersister(db);
    for (const taskId of order) turns.save(aTurn({ taskId }));
    turns.deleteAfter('task-10', order);
    expect(order.map((taskId) => turns.loadForTask(taskId).length)).toEqual([1, 1, 0, 0]);
  });

  test('removes nothing after the last task', ({ db }) => {
    const turns = new CheckpointPersister(db);
    for (const taskId of order) turns.save(aTurn({ taskId }));
    turns.deleteAfter("task'3", order);
    expect(order.map((taskId) => turns.loadForTask(taskId).length)).toEqual([1, 1, 1, 1]);
  });

  test('leaves the turns of other graphs when one is named', ({ db }) => {
    const turns = new CheckpointPersister(db);
    turns.save(aTurn({ taskId: 'task-2' }));
    turns.save(aTurn({ taskId: 'task-2', graphId: 'graph-2', id: 'kept' }));
    turns.deleteAfter('task-1', order, 'graph-1');
    expect(idsOf(turns.loadForTask('task-2'))).toEqual(['kept']);
  });

  test('refuses an unknown target instead of deleting everything', ({ db }) => {
    const turns = new CheckpointPersister(db);
    turns.save(aTurn({ taskId: 'task-2' }));
    expect(() => turns.deleteAfter('task-9', order)).toThrow(RangeError);
    expect(turns.loadForTask('task-2')).toHaveLength(1);
  });
});

describe('crash between the two turns', () => {
  test('leaves the Thought, from which the run can go on', ({ db }) => {
    const turns = new CheckpointPersister(db);
    const node = (): void => {
      turns.save(aTurn({ id: 'thought', turnType: 'Thought' }));
      throw new Error('killed');
    };
    expect(node).toThrow('killed');
    expect(turns.loadForTask('task-1')).toEqual([
      expect.objectContaining({ id: 'thought', turnType: 'Thought' }),
    ]);
  });
});

test('integration: the checkpoint of turn 3 is what a killed 5-turn run resumes from', ({ dbPath }) => {
  const run = createDatabase({ dbPath });
  const journal = new CheckpointPersister(run);
  const replay = (): void => {
    for (let turn = 1; turn <= 5; turn += 1) {
      const turnType = turn % 2 === 1 ? 'Thought' : 'Action';
      journal.save(aTurn({ id: `turn-${turn}`, turnType, state: { ...largeState, turn } }));
      if (turn === 3) throw new Error('killed');
    }
  };
  expect(replay).toThrow('killed');
  run.close();

  const restarted = createDatabase({ dbPath });
  const latest = new CheckpointPersister(restarted).loadLatest('graph-1');
  expect(latest).toMatchObject({ id: 'turn-3', turnType: 'Thought', state: { ...largeState, turn: 3 } });
  expect(new CheckpointPersister(restarted).loadForTask('task-1')).toHaveLength(3);
  restarted.close();
});

test('a closed connection is a mistake of the caller, not a fault of the file', ({ db }) => {
  db.close();
  expect(() => new CheckpointPersister(db)).toThrow(TypeError);
});
