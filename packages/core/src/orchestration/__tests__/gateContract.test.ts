import BetterSqlite3 from 'better-sqlite3';
import { describe, expect, expectTypeOf, onTestFinished, test as plainTest, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { loadOrchestratorConfig } from '../../config/orchestratorConfig.ts';
import { runMigrations } from '../../db/migrate.ts';
import { MIGRATIONS } from '../../db/migrations/index.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import { orchestrationApp } from '../graph.ts';
import * as door from '../index.ts';
import { TaskFailureGate } from '../TaskFailureGate.ts';
import type { GraphState } from '../types.ts';

// The names, shapes and the table that others rely on, as the specification of the failure gate lists them.

/** The shapes of the specification, to the letter. */
interface SpecifiedInput {
  entropyScore: number;
  taskId: string;
  graphState: GraphState;
  threshold?: number;
}
interface SpecifiedResult {
  triggered: boolean;
  sessionId?: string;
}

describe('the names of the failure gate', () => {
  plainTest('orchestration/index.ts exports the class and the signal', () => {
    expect(door.TaskFailureGate).toBe(TaskFailureGate);
    expect(door.GraphSuspendedSignal).toBeTypeOf('function');
  });

  plainTest('evaluate takes the specified input, and input without a state', () => {
    type Input = Parameters<TaskFailureGate['evaluate']>[0];
    expectTypeOf<Input>().toEqualTypeOf<door.GateEvaluationInput>();
    expectTypeOf<SpecifiedInput>().toExtend<Input>();
    expectTypeOf<Omit<SpecifiedInput, 'graphState'>>().toExtend<Input>();
  });

  plainTest('evaluate and getGateStatus return what the specified result can hold', () => {
    type Status = ReturnType<TaskFailureGate['getGateStatus']>;
    expectTypeOf<ReturnType<TaskFailureGate['evaluate']>>().toEqualTypeOf<
      Promise<door.GateEvaluationResult>
    >();
    expectTypeOf<door.GateEvaluationResult>().toExtend<SpecifiedResult>();
    expectTypeOf<Status>().toExtend<SpecifiedResult | null>();
    expectTypeOf<NonNullable<Status>['reason']>().toEqualTypeOf<string>();
  });
});

describe('migration 014', () => {
  /** A database as 014 leaves it: a later migration makes the table anew. */
  function asOf014(): BetterSqlite3.Database {
    const db = new BetterSqlite3(':memory:');
    onTestFinished(() => void db.close());
    for (const { version, sql } of MIGRATIONS) if (version <= 14) db.exec(sql);
    return db;
  }

  test('makes the six columns, the unique task, the default reason and the reference', ({ db }) => {
    for (const each of [asOf014(), db]) expectGates(each);
  });

  function expectGates(db: BetterSqlite3.Database): void {
    const columns = db.pragma('table_info(hitl_failure_gates)') as readonly {
      name: string;
      type: string;
      notnull: number;
      dflt_value: string | null;
      pk: number;
    }[];
    expect(columns.map(({ name, type, notnull, pk }) => [name, type, notnull, pk])).toEqual([
      ['id', 'TEXT', 1, 1],
      ['task_id', 'TEXT', 1, 0],
      ['entropy_score', 'REAL', 1, 0],
      ['triggered_at', 'INTEGER', 1, 0],
      ['session_id', 'TEXT', 1, 0],
      ['reason', 'TEXT', 1, 0],
    ]);
    expect(columns.at(-1)?.dflt_value).toBe("'entropy_limit'");
    expect(db.pragma('foreign_key_list(hitl_failure_gates)')).toMatchObject([
      { table: 'hitl_sessions', from: 'session_id', to: 'id' },
    ]);
    const unique = db.pragma('index_list(hitl_failure_gates)') as readonly { unique: number; name: string }[];
    const covered = unique
      .filter((index) => index.unique === 1)
      .flatMap(({ name }) => db.pragma(`index_info(${name})`));
    expect(covered).toMatchObject([{ name: 'task_id' }, { name: 'id' }]);
  }

  plainTest('applies to an empty database that its caller opened', () => {
    const db = new BetterSqlite3(':memory:');
    onTestFinished(() => void db.close());
    runMigrations(db);
    expect(db.pragma('table_info(hitl_failure_gates)')).toHaveLength(6);
    expect(runMigrations(db)).toEqual([]);
  });
});

describe('DEVS_HITL_ENTROPY_THRESHOLD', () => {
  /** Whether a score trips the gate of a run that was started with the variable set so. */
  const trips = async (db: Parameters<typeof runMigrations>[0], entropyScore: number): Promise<boolean> => {
    const { store } = internalsOf(orchestrationApp(null, { db, config: loadOrchestratorConfig() }));
    return (await store.failureGate.evaluate({ entropyScore, taskId: 't1' })).triggered;
  };

  test('set to 0.9 lets a score of 0.8 pass and stops one of 0.9', async ({ db }) => {
    vi.stubEnv('DEVS_HITL_ENTROPY_THRESHOLD', '0.9');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect([await trips(db, 0.8), await trips(db, 0.9)]).toEqual([false, true]);
  });

  test('out of range warns at the start, and 0.75 counts', async ({ db }) => {
    vi.stubEnv('DEVS_HITL_ENTROPY_THRESHOLD', '1.5');
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => {
      vi.unstubAllEnvs();
      warn.mockRestore();
    });
    door.OrchestrationGraph.withSqlitePersistence(db);
    expect(warn.mock.calls).toMatchObject([[expect.stringContaining('"1.5"'), 'DevsConfigWarning']]);
    expect([await trips(db, 0.74), await trips(db, 0.75)]).toEqual([false, true]);
  });
});
