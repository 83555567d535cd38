import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { DecisionLog } from '../DecisionLog.ts';
import { HitlSessionStore } from '../HitlSessionStore.ts';
import { aQuestion, HASH } from './aQuestion.ts';

/** Three decided sessions with their lines, and one open session. */
function aDecidedFile(db: Database): { readonly log: DecisionLog; readonly ids: readonly string[] } {
  let count = 0;
  const sessions = new HitlSessionStore(db, { newId: () => `s-${++count}` });
  const log = new DecisionLog(db);
  const ids = ['i-1', 'i-2', 'i-3'].map((interruptId) => {
    const { id } = sessions.openForInterrupt(aQuestion({ interruptId, questionKey: interruptId })).session;
    const principal = { kind: 'human', id: 'reviewer-1' } as const;
    sessions.decide({ id, artifactHash: HASH, decision: { approved: true }, principal });
    log.record(sessions.require(id));
    return id;
  });
  sessions.openForInterrupt(aQuestion({ interruptId: 'i-4', questionKey: 'i-4' }));
  return { log, ids };
}

/** What someone with write access to the file can do: the triggers go first. */
function tamper(db: Database, sql: string): void {
  db.pragma('foreign_keys = OFF');
  db.exec(
    `DROP TRIGGER IF EXISTS hitl_decisions_no_update; DROP TRIGGER IF EXISTS hitl_decisions_no_delete; ${sql}`,
  );
}

const REORDER = `
  UPDATE hitl_decisions SET seq = 9 WHERE seq = 2;
  UPDATE hitl_decisions SET seq = 2 WHERE seq = 3;
  UPDATE hitl_decisions SET seq = 3 WHERE seq = 9;`;

describe('an untouched log', () => {
  test('is intact, empty or not, and after the run took its decisions up', ({ db }) => {
    expect(new DecisionLog(db).verify()).toEqual({ ok: true });
    const { log } = aDecidedFile(db);
    expect(log.verify()).toEqual({ ok: true });
    new HitlSessionStore(db).markResumed('run-1', []);
    expect(log.verify()).toEqual({ ok: true });
  });

  test('chains every line to the one before', ({ db }) => {
    const log = new DecisionLog(db);
    const sessions = new HitlSessionStore(db);
    const { id } = sessions.openForInterrupt(aQuestion()).session;
    const first = log.append(id, { b: 1, a: 2 });
    const second = log.append(id, {});
    expect(first).toMatchObject({ seq: 1, prevSha256: '0'.repeat(64), bodyJson: '{"a":2,"b":1}' });
    expect(second).toMatchObject({ seq: 2, prevSha256: first.sha256 });
  });

  test('cannot be changed through SQL that leaves its triggers in place', ({ db }) => {
    aDecidedFile(db);
    expect(() => db.exec("UPDATE hitl_decisions SET body_json = '{}'")).toThrow('append-only');
    expect(() => db.exec('DELETE FROM hitl_decisions')).toThrow('append-only');
  });

  test('does not mind a free-standing session that was resumed', ({ db }) => {
    const { log } = aDecidedFile(db);
    const sessions = new HitlSessionStore(db);
    sessions.insertUnbound({
      id: 'free',
      taskId: 't',
      kind: 'task_failure',
      threadId: null,
      graphStateJson: '{}',
      artifactHash: null,
    });
    sessions.resumeUnbound('free');
    expect(log.verify()).toEqual({ ok: true });
  });
});

describe('tampering is found:', () => {
  const cases = [
    ['an edited line', `UPDATE hitl_decisions SET body_json = '{"approved":false}' WHERE seq = 2`, 2],
    ['a line with another hash', `UPDATE hitl_decisions SET sha256 = '${'e'.repeat(64)}' WHERE seq = 2`, 2],
    ['a deleted line', 'DELETE FROM hitl_decisions WHERE seq = 2', 3],
    ['the last line deleted', 'DELETE FROM hitl_decisions WHERE seq = 3', null],
    ['all lines deleted', 'DELETE FROM hitl_decisions', null],
    ['reordered lines', REORDER, 2],
    [
      'an open session set to decided',
      `UPDATE hitl_sessions SET status = 'decided' WHERE interrupt_id = 'i-4'`,
      null,
    ],
    [
      'an open session set to resumed',
      `UPDATE hitl_sessions SET status = 'resumed' WHERE interrupt_id = 'i-4'`,
      null,
    ],
    [
      'a decision planted in an open session',
      `UPDATE hitl_sessions SET decision_json = '{"approved":true}' WHERE interrupt_id = 'i-4'`,
      null,
    ],
    [
      'a decided session opened again',
      `UPDATE hitl_sessions SET status = 'awaiting_approval' WHERE id = 's-2'`,
      2,
    ],
    [
      'a decided session opened again without its decision',
      `UPDATE hitl_sessions SET status = 'awaiting_approval', decision_json = NULL WHERE id = 's-2'`,
      2,
    ],
    ['another answer', `UPDATE hitl_sessions SET decision_json = '{"approved":false}' WHERE id = 's-2'`, 2],
    ['another decider', `UPDATE hitl_sessions SET principal_id = 'someone' WHERE id = 's-2'`, 2],
    ['another artifact', `UPDATE hitl_sessions SET artifact_hash = '${'c'.repeat(64)}' WHERE id = 's-2'`, 2],
    ['another time', `UPDATE hitl_sessions SET decided_at = 1 WHERE id = 's-2'`, 2],
  ] as const;

  for (const [what, sql, seq] of cases) {
    test(what, ({ db }) => {
      const { log } = aDecidedFile(db);
      tamper(db, sql);
      expect(log.verify()).toMatchObject({ ok: false, seq, reason: expect.stringMatching(/./) });
    });
  }

  test('a second line for the same session', ({ db }) => {
    const { log, ids } = aDecidedFile(db);
    const line = db.prepare('SELECT body_json FROM hitl_decisions WHERE seq = 1').pluck().get() as string;
    log.append(ids[0] ?? '', JSON.parse(line));
    expect(log.verify()).toMatchObject({ ok: false, seq: 4 });
  });
});
