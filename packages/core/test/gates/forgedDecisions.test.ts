import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { ada, twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import type { DevsError } from '../../src/errors/DevsError.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';
import { ofOneFile } from '../support/runs/where.ts';

const app = (db: Database) => durable(twoSteps(), { db, gates: { second: ({ log }) => log } });

/** Two runs whose gate was decided and taken up, one that still waits. */
async function aFileWithDecisions(db: Database): Promise<void> {
  const devs = app(db);
  for (const run of ['a', 'b']) {
    const gate = only((await devs.run(run, {})).gates);
    await devs.decide(gate, { approved: true, feedback: 'Fine.', by: ada });
    await devs.run(run);
  }
  await devs.run('waiting', {});
}

const FORGED = {
  'an edited decision': `UPDATE hitl_decisions SET body_json = replace(body_json, 'true', 'false') WHERE seq = 1`,
  'a deleted decision': 'DELETE FROM hitl_decisions WHERE seq = 2',
  'reordered decisions': `UPDATE hitl_decisions SET seq = 9 WHERE seq = 1;
    UPDATE hitl_decisions SET seq = 1 WHERE seq = 2; UPDATE hitl_decisions SET seq = 2 WHERE seq = 9`,
  'a deleted session': "DELETE FROM hitl_sessions WHERE thread_id = 'a'",
  'an edited text': "UPDATE decision_texts SET text = 'Not fine.'",
  'a deleted text': 'DELETE FROM decision_texts',
  'a text edited in its session': `UPDATE hitl_sessions
    SET decision_json = replace(decision_json, 'Fine.', 'Not fine.') WHERE thread_id = 'a'`,
  'a forged status': `UPDATE hitl_sessions SET status = 'decided', decision_json = '{"approved":true}',
    principal_kind = 'human', principal_id = 'ada', decided_at = 1 WHERE status = 'awaiting_approval'`,
};

describe('at the next open', () => {
  test.for(Object.entries(FORGED))(
    '%s is found, and nothing is driven',
    ofOneFile('plants rows'),
    async ([_what, sql], { db, dbPath }) => {
      await aFileWithDecisions(db);
      const forger = createDatabase({ dbPath });
      forger.pragma('foreign_keys = OFF');
      expect(() => forger.exec(sql.includes('hitl_decisions') ? sql : 'DELETE FROM hitl_decisions')).toThrow(
        'append-only',
      );
      forger.exec('DROP TRIGGER hitl_decisions_no_update; DROP TRIGGER hitl_decisions_no_delete');
      forger.exec(`DROP TRIGGER decision_texts_no_update; ${sql}`);
      forger.close();
      expect(() => app(db)).toThrow(expect.objectContaining({ code: 'STATE_CORRUPT' }));
    },
  );

  test('a run that was deleted as a whole is not', ofOneFile('plants rows'), async ({ db, dbPath }) => {
    await aFileWithDecisions(db);
    const other = createDatabase({ dbPath });
    const tables = other
      .prepare<[], string>(
        `SELECT name FROM sqlite_schema AS t WHERE type = 'table' AND EXISTS (
           SELECT 1 FROM pragma_table_info(t.name) AS c WHERE c.name = 'thread_id') ORDER BY name = 'threads'`,
      )
      .pluck()
      .all();
    for (const table of tables) other.exec(`DELETE FROM ${table} WHERE thread_id = 'a'`);
    expect(tables).toEqual(expect.arrayContaining(['hitl_sessions', 'signals', 'thread_inputs', 'threads']));
    other.close();
    const devs = app(db);
    const gates = devs.gates('a').catch(({ code }: DevsError) => code);
    expect([[], 'THREAD_NOT_FOUND']).toContainEqual(await gates);
    expect((await devs.run('waiting')).status).toBe('waiting');
    expect(doctor(db).findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  test('a file nobody touched is not', async ({ db }) => {
    await aFileWithDecisions(db);
    const devs = app(db);
    await devs.decide(only(await devs.gates('waiting')), { approved: true, by: ada });
    expect((await devs.run('waiting')).status).toBe('completed');
  });
});
