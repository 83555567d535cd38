import type { Database } from 'better-sqlite3';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase, openStateCopy } from '../../db/createDatabase.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';
import { EventStore } from '../events/EventStore.ts';
import { DecisionLog } from '../gates/DecisionLog.ts';
import { inlineBody } from '../gates/decisionLines.ts';
import { HitlSessionStore } from '../gates/HitlSessionStore.ts';
import { ThreadStore } from '../threads/ThreadStore.ts';
import { aQuestion, HASH } from './aQuestion.ts';
import { aThread } from './aThread.ts';

type Form = 'of this engine' | 'of an older engine';

interface Decided {
  readonly db: Database;
  readonly log: DecisionLog;
  readonly ids: readonly string[];
}

const files = new Map<Form, { readonly bytes: Buffer; readonly ids: readonly string[] }>();

/** Three decided sessions of a run with their lines, and one open session: made once, each test has a copy. */
function aDecidedFile(form: Form = 'of this engine'): Decided {
  const { bytes, ids } = files.get(form) ?? decidedFile(form);
  const db = openStateCopy(bytes);
  onTestFinished(() => void db.close());
  return { db, log: new DecisionLog(db), ids };
}

function decidedFile(form: Form) {
  const db = createDatabase({ dbPath: ':memory:' });
  let count = 0;
  new ThreadStore(db).create(aThread());
  const sessions = new HitlSessionStore(db, { newId: () => `s-${++count}` });
  const log = new DecisionLog(db);
  const ids = ['i-1', 'i-2', 'i-3'].map((interruptId) => {
    const { id } = sessions.openForInterrupt(aQuestion({ interruptId, questionKey: interruptId })).session;
    const principal = { kind: 'human', id: 'reviewer-1' } as const;
    const decision = answerTo(interruptId);
    sessions.decide({ id, artifactHash: HASH, decision, principal }, (said) => {
      if (form === 'of this engine') log.record(said);
      else log.append(id, inlineBody(said));
    });
    return id;
  });
  sessions.openForInterrupt(aQuestion({ interruptId: 'i-4', questionKey: 'i-4' }));
  const made = { bytes: db.serialize(), ids };
  db.close();
  files.set(form, made);
  return made;
}

const answerTo = (interruptId: string) => ({ approved: true, feedback: `Good: ${interruptId}` });
const textOf = (n: number): string => answerTo(`i-${n}`).feedback;

/** What someone with write access to the file can do: the triggers go first. */
function tamper(db: Database, sql: string): void {
  db.pragma('foreign_keys = OFF');
  for (const trigger of [
    'hitl_decisions_no_update',
    'hitl_decisions_no_delete',
    'decision_texts_no_update',
  ]) {
    db.exec(`DROP TRIGGER IF EXISTS ${trigger}`);
  }
  db.exec(sql);
}

const REORDER = `
  UPDATE hitl_decisions SET seq = 9 WHERE seq = 2;
  UPDATE hitl_decisions SET seq = 2 WHERE seq = 3;
  UPDATE hitl_decisions SET seq = 3 WHERE seq = 9;`;

describe('an untouched log', () => {
  test('is intact, empty or not, and after the run took its decisions up', ({ db: empty }) => {
    expect(new DecisionLog(empty).verify()).toEqual({ ok: true });
    const { db, log } = aDecidedFile();
    expect(log.verify()).toEqual({ ok: true });
    new HitlSessionStore(db).markResumed('run-1', []);
    expect(log.verify()).toEqual({ ok: true });
  });

  test('is intact when an older engine wrote it, texts and all', () => {
    const { db, log } = aDecidedFile('of an older engine');
    expect(log.verify()).toEqual({ ok: true });
    expect(db.prepare('SELECT count(*) FROM decision_texts').pluck().get()).toBe(0);
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

  test('cannot be changed through SQL that leaves its triggers in place', () => {
    const { db } = aDecidedFile();
    expect(() => db.exec("UPDATE hitl_decisions SET body_json = '{}'")).toThrow('append-only');
    expect(() => db.exec('DELETE FROM hitl_decisions')).toThrow('append-only');
    expect(() => db.exec("UPDATE decision_texts SET text = 'Yes.'")).toThrow('never edited');
  });

  test('does not mind a free-standing session that was resumed', () => {
    const { db, log } = aDecidedFile();
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
    [
      'the last line deleted with its session',
      "DELETE FROM hitl_decisions WHERE seq = 3; DELETE FROM hitl_sessions WHERE id = 's-3'",
      null,
    ],
    [
      'all lines deleted with their sessions',
      'DELETE FROM hitl_decisions; DELETE FROM hitl_sessions; DELETE FROM decision_texts',
      null,
    ],
    ['the record of its end deleted', 'DELETE FROM decision_log_end', null],
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
    [
      'another text',
      `UPDATE hitl_sessions SET decision_json = '{"approved":true,"feedback":"Bad"}' WHERE id = 's-2'`,
      2,
    ],
    ['a deleted session', `DELETE FROM hitl_sessions WHERE id = 's-2'`, 2],
    [
      'a decided session without its decision',
      `UPDATE hitl_sessions SET decision_json = NULL WHERE id = 's-2'`,
      2,
    ],
    ['another decider', `UPDATE hitl_sessions SET principal_id = 'someone' WHERE id = 's-2'`, 2],
    ['another artifact', `UPDATE hitl_sessions SET artifact_hash = '${'c'.repeat(64)}' WHERE id = 's-2'`, 2],
    ['another time', `UPDATE hitl_sessions SET decided_at = 1 WHERE id = 's-2'`, 2],
  ] as const;

  const forms: readonly Form[] = ['of this engine', 'of an older engine'];
  for (const [what, sql, seq] of cases) {
    test.for(forms)(`${what}, in a log %s`, (form) => {
      const { db, log } = aDecidedFile(form);
      tamper(db, sql);
      expect(log.verify()).toMatchObject({ ok: false, seq, reason: expect.stringMatching(/./) });
    });
  }

  const ofTexts = [
    ['an edited text', `UPDATE decision_texts SET text = 'Yes.' WHERE text = '${textOf(2)}'`, null],
    [
      'a text under another hash',
      `UPDATE decision_texts SET sha256 = '${HASH}' WHERE text = '${textOf(2)}'`,
      null,
    ],
    ['a deleted text', `DELETE FROM decision_texts WHERE text = '${textOf(2)}'`, 2],
    [
      'a text in its session that becomes a reference',
      `UPDATE hitl_sessions SET decision_json =
         '{"approved":true,"feedback":{"sha256":"${sha256Hex(textOf(2))}"}}' WHERE id = 's-2'`,
      2,
    ],
  ] as const;

  for (const [what, sql, seq] of ofTexts) {
    test(what, () => {
      const { db, log } = aDecidedFile();
      tamper(db, sql);
      expect(log.verify()).toMatchObject({ ok: false, seq });
    });
  }

  test('a second line for the same session', () => {
    const { db, log, ids } = aDecidedFile();
    const line = db.prepare('SELECT body_json FROM hitl_decisions WHERE seq = 1').pluck().get() as string;
    log.append(ids[0] ?? '', JSON.parse(line));
    expect(log.verify()).toMatchObject({ ok: false, seq: 4 });
  });
});

describe('a line of the log', () => {
  const DECISION = {
    action: 'edit',
    approved: true,
    count: 3,
    documents: [{ type: 'design', content: 'Secret plan' }],
    nested: { action: 'Not a word' },
    none: null,
  };

  test('holds every text of the answer by its SHA-256, but for the word of its action', ({ db }) => {
    const sessions = new HitlSessionStore(db, { newId: () => 's' });
    const { id } = sessions.openForInterrupt(aQuestion()).session;
    const principal = { kind: 'human', id: 'reviewer-1' } as const;
    let bodyJson = '';
    sessions.decide({ id, artifactHash: HASH, decision: DECISION, principal }, (said) => {
      ({ bodyJson } = new DecisionLog(db).record(said));
    });
    const of = (text: string) => ({ sha256: sha256Hex(text) });
    expect(JSON.parse(bodyJson)).toMatchObject({
      v: 2,
      sessionId: 's',
      principal,
      decision: {
        action: 'edit',
        approved: true,
        count: 3,
        documents: [{ type: of('design'), content: of('Secret plan') }],
        nested: { action: of('Not a word') },
        none: null,
      },
    });
    const texts = db.prepare('SELECT text FROM decision_texts ORDER BY text').pluck().all();
    expect(texts).toEqual(['Not a word', 'Secret plan', 'design']);
  });

  test('shares its texts with every line that says the same', () => {
    const { db, log, ids } = aDecidedFile();
    log.record(new HitlSessionStore(db).require(ids[0] ?? ''));
    expect(db.prepare('SELECT count(*) FROM decision_texts').pluck().get()).toBe(3);
  });
});

describe('a run that was deleted', () => {
  const DELETE_RUN = `
    DELETE FROM hitl_sessions WHERE thread_id = 'run-1'; DELETE FROM decision_texts; DELETE FROM threads;`;

  test.for(['of this engine', 'of an older engine'] as const)('leaves a sound log %s', (form) => {
    const { db, log } = aDecidedFile(form);
    db.exec(DELETE_RUN);
    expect(log.verify()).toEqual({ ok: true });
    expect(db.prepare('SELECT count(*) FROM hitl_decisions').pluck().get()).toBe(3);
  });

  test.for([
    ['an edited line', `UPDATE hitl_decisions SET body_json = '{"approved":false}' WHERE seq = 2`, 2],
    ['a line of another session', "UPDATE hitl_decisions SET session_id = 's-9' WHERE seq = 2", 2],
    ['a deleted line', 'DELETE FROM hitl_decisions WHERE seq = 2', 3],
  ] as const)('hides no %s', ([_what, sql, seq]) => {
    const { db, log } = aDecidedFile();
    db.exec(DELETE_RUN);
    tamper(db, sql);
    expect(log.verify()).toMatchObject({ ok: false, seq });
  });

  test('is not gone while its row, a session of it or a run around it is there', () => {
    const { db, log } = aDecidedFile();
    db.exec("DELETE FROM hitl_sessions WHERE id <> 's-2'; DELETE FROM threads");
    tamper(db, "UPDATE hitl_sessions SET decision_json = NULL, status = 'superseded'");
    expect(log.verify()).toMatchObject({ ok: false, seq: 2 });
    db.exec('DELETE FROM hitl_sessions');
    expect(log.verify()).toEqual({ ok: true });
    log.append('inner', { sessionId: 'inner', threadId: 'outer/lg/0' });
    expect(log.verify()).toEqual({ ok: true });
    new ThreadStore(db).create(aThread({ threadId: 'outer' }));
    expect(log.verify()).toMatchObject({ ok: false, seq: 4 });
  });

  test('is gone also where another run has its id since, of which nothing may be missing', () => {
    const { db, log } = aDecidedFile();
    db.exec(DELETE_RUN);
    new ThreadStore(db).create(aThread());
    expect(log.verify()).toMatchObject({ ok: false, seq: 1 });
    const removed = (id: string, at: number): void =>
      void new EventStore(db, { now: () => at }).append('RUN_REMOVED', { id, principal: 'human:ada' }, {});
    removed('run-2', Date.now() + 1000);
    removed('run-1', 1);
    expect(log.verify()).toMatchObject({ ok: false, seq: 1 });
    removed('run-1', Date.now() + 1000);
    expect(log.verify()).toEqual({ ok: true });
    const decidedAt = Date.now() + 2000;
    log.append('lost', { sessionId: 'lost', threadId: 'run-1', decidedAt });
    expect(log.verify()).toMatchObject({ ok: false, seq: 4 });
  });

  test('cannot be one that a line does not name', ({ db }) => {
    const log = new DecisionLog(db);
    log.append('free', { sessionId: 'free', threadId: null });
    expect(log.verify()).toMatchObject({ ok: false, seq: 1 });
  });
});
