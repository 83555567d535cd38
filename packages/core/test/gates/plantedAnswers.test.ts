import BetterSqlite3, { type Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { ada, twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import { durable } from '../../src/engine/app/durable.ts';
import type { DevsError } from '../../src/errors/DevsError.ts';
import { makeStateFile, test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';

/** What decides a gate in the moment in which it is asked, and takes the row's check value away. */
const ANSWERS = `status = 'decided', decision_json = '{"approved":true}', principal_kind = 'human', principal_id = 'ada',
  decided_at = suspended_at, row_sha256 = NULL`;

const PLANTED = {
  'a gate decided when it is asked': `CREATE TRIGGER planted AFTER INSERT ON hitl_sessions
    BEGIN UPDATE hitl_sessions SET ${ANSWERS} WHERE id = NEW.id; END`,
  'a gate decided when its run begins to wait': `CREATE TRIGGER planted AFTER UPDATE OF status ON threads
    WHEN NEW.status = 'waiting' BEGIN UPDATE hitl_sessions SET ${ANSWERS} WHERE thread_id = NEW.thread_id; END`,
  'a way to the gate that is deleted': `CREATE TRIGGER planted AFTER INSERT ON checkpoint_blobs
    WHEN NEW.channel LIKE 'branch:to:%' BEGIN DELETE FROM checkpoint_blobs WHERE channel = NEW.channel; END`,
};

const at = (run: () => unknown): string => {
  try {
    run();
    return 'opened';
  } catch (error) {
    return (error as DevsError).code;
  }
};

describe('an empty state file with a trigger', () => {
  test.for(Object.entries(PLANTED))('is refused: %s', ([_what, sql], { dbPath }) => {
    makeStateFile(dbPath);
    const forger = new BetterSqlite3(dbPath);
    forger.exec(sql);
    forger.close();
    expect(at(() => durable(twoSteps(), { file: dbPath, gates: { second: ({ log }) => log } }))).toBe(
      'SCHEMA_FOREIGN',
    );
    const theirs = new BetterSqlite3(dbPath);
    expect(at(() => durable(twoSteps(), { db: theirs, gates: { second: ({ log }) => log } }))).toBe(
      'SCHEMA_FOREIGN',
    );
    theirs.close();
  });
});

const app = (db: Database) => durable(twoSteps(), { db, gates: { second: ({ log }) => log } });

describe('an answer that the decision log does not have is not taken up', () => {
  test.for(Object.entries(PLANTED).slice(0, 2))(
    'where a trigger came while the file was open: %s',
    async ([_what, sql], { db, dbPath }) => {
      const devs = app(db);
      const forger = new BetterSqlite3(dbPath);
      forger.exec(sql);
      forger.close();
      const goingOn = devs.run('a', {}).then(() => devs.run('a'));
      await expect(goingOn).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
      expect(db.prepare('SELECT count(*) FROM hitl_decisions').pluck().get()).toBe(0);
      expect(db.prepare("SELECT status FROM threads WHERE thread_id = 'a'").pluck().get()).not.toBe(
        'completed',
      );
    },
  );

  test.for([
    ['no line', `UPDATE hitl_sessions SET ${ANSWERS}`],
    ['a status alone', "UPDATE hitl_sessions SET status = 'decided', row_sha256 = NULL"],
  ] as const)('where its row has %s', async ([_what, sql], { db }) => {
    const devs = app(db);
    await devs.run('a', {});
    db.exec(sql);
    await expect(devs.run('a')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
  });

  test.for([
    ['another answer', `decision_json = '{"approved":true}'`],
    ['another person', "principal_id = 'bob'"],
    ['another artifact', `artifact_hash = '${'a'.repeat(64)}'`],
    ['another gate', "kind = 'interrupt'"],
    ['an open gate', "status = 'awaiting_approval'"],
  ] as const)('where its row says %s than the log', async ([_what, change], { db }) => {
    const devs = app(db);
    const gate = only((await devs.run('a', {})).gates);
    await devs.decide(gate, { approved: false, feedback: 'No.', by: ada });
    db.exec(`UPDATE hitl_sessions SET ${change}, row_sha256 = NULL`);
    await expect(devs.run('a')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
  });

  test('where its line is none of the chain', async ({ db }) => {
    const devs = app(db);
    const gate = only((await devs.run('a', {})).gates);
    await devs.decide(gate, { approved: true, by: ada });
    db.exec('DROP TRIGGER hitl_decisions_no_update');
    db.exec(`UPDATE hitl_decisions SET sha256 = '${'0'.repeat(64)}'`);
    await expect(devs.run('a')).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
  });

  test('and one that the log has is', async ({ db, dbPath }) => {
    const devs = app(db);
    await devs.decide(only((await devs.run('a', {})).gates), { approved: true, by: ada });
    expect((await devs.run('a')).status).toBe('completed');
    createDatabase({ dbPath }).close();
  });
});
