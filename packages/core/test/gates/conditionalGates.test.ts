import { interrupt } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { ada, type Own, says, twoBranches, twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import type { DeclaredGate } from '../../src/langgraph.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';

/** Two steps, the second of which asks on its own behind its gate. */
function asking(db: Database, gate: DeclaredGate<Own>) {
  const second = () => ({ log: ['second'], answer: interrupt('sure?') });
  return durable(twoSteps(says('first'), second), { db, gates: { second: gate } });
}

const questions = (db: Database): readonly unknown[] =>
  db
    .prepare('SELECT kind, status, artifact_hash IS NOT NULL AS shown FROM hitl_sessions ORDER BY rowid')
    .all();

describe('a gate that shows nothing', () => {
  test('is not asked, and the node runs', async ({ db }) => {
    const gates = { second: ({ log }: Own) => (log.includes('careful') ? log : undefined) };
    const app = durable(twoSteps(), { db, gates });
    expect(await app.run('easy', {})).toMatchObject({
      status: 'completed',
      values: { log: ['first', 'second'] },
    });
    expect(questions(db)).toEqual([]);
    const careful = await app.run('hard', { log: ['careful'] });
    expect(only(careful.gates).artifact).toEqual(['careful', 'first']);
  });

  test('is one that shows nothing, and not null or an empty text', async ({ db }) => {
    for (const [at, nothing] of [null, '', 0, false].entries()) {
      const app = durable(twoSteps(), { db, gates: { second: () => nothing } });
      expect(only((await app.run(`run-${at}`, {})).gates).artifact).toBe(nothing);
    }
  });

  test('leaves the branch beside it to its own gate', async ({ db }) => {
    const app = durable(twoBranches(), { db, gates: { left: () => undefined, right: ({ log }) => log } });
    const gate = only((await app.run('run', {})).gates);
    expect(gate.message).toContain('right');
    await app.decide(gate, { approved: true, by: ada });
    expect((await app.run('run')).values?.log).toEqual(['start', 'left', 'right']);
  });
});

describe('a gate that was asked, and shows nothing in the program of today', () => {
  const before: DeclaredGate<Own> = { show: ({ log }) => log };

  test('stays asked, and its yes reaches no other question', async ({ db }) => {
    const gate = only((await asking(db, before).run('run', {})).gates);
    const today = asking(db, { show: () => undefined });
    expect((await today.run('run')).gates).toEqual([gate]);
    await today.decide(gate, { approved: true, by: ada });

    const { gates } = await today.run('run');
    expect(only(gates)).toMatchObject({ kind: 'interrupt', artifact: 'sure?' });
    await today.decide(only(gates), { value: 'yes', by: ada });
    expect((await asking(db, { show: () => undefined }).run('run')).values).toMatchObject({
      log: ['first', 'second'],
      answer: 'yes',
    });
  });

  test('is asked as it was before, though the question was never put to LangGraph', async ({ db }) => {
    const app = asking(db, before);
    const gate = only((await app.run('run', {})).gates);
    // As a process leaves it that dies between the question's row and the checkpoint's.
    db.exec('DELETE FROM checkpoint_writes; UPDATE checkpoints SET writes = 0');
    db.prepare(`UPDATE threads SET lease_owner = NULL, status = 'running'`).run();
    const { gates } = await asking(db, { show: () => undefined }).run('run');
    expect(gates).toEqual([gate]);
  });

  test('counts a no', async ({ db }) => {
    const reject = { onReject: () => ({ log: ['rejected'] }) };
    const gate = only((await asking(db, { ...before, ...reject }).run('run', {})).gates);
    const today = asking(db, { show: () => undefined, ...reject });
    await today.decide(gate, { approved: false, feedback: 'no', by: ada });
    expect(await today.run('run')).toMatchObject({
      status: 'completed',
      values: { log: ['first', 'rejected'] },
    });
  });

  test('asks about what it shows once it shows something else', async ({ db }) => {
    const gate = only((await asking(db, before).run('run', {})).gates);
    await asking(db, before).decide(gate, { approved: true, by: ada });
    const other = asking(db, { show: () => 'other' });
    const again = only((await other.run('run')).gates);
    expect(again.artifact).toBe('other');

    const today = asking(db, { show: () => undefined });
    await today.decide(again, { approved: true, by: ada });
    expect(only((await today.run('run')).gates).kind).toBe('interrupt');
    expect(questions(db).map((row) => (row as { status: string }).status)).toEqual([
      'superseded',
      'resumed',
      'awaiting_approval',
    ]);
  });
});
