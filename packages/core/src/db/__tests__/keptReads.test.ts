import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase, openWorkingCopy } from '../createDatabase.ts';
import { keepRead, keepReads, knownRead, readKept, TableKnowledge } from '../keptReads.ts';
import { prepare, transaction } from '../prepare.ts';

const INSERT = "INSERT INTO graph_order (fingerprint) VALUES ('a' || random())";

/** How many rows there are, and how often that was looked up. */
function counted(db: Database) {
  const looked = { times: 0 };
  const count = (): number =>
    readKept(db, {
      ...{ threadId: 'run', name: 'count', tables: ['graph_order'] },
      read: () => {
        looked.times += 1;
        return prepare<[], number>(db, 'SELECT count(*) FROM graph_order').pluck().get() ?? 0;
      },
    });
  return { looked, count };
}

describe('what is read of a run that is kept', () => {
  test('is read once, until a table of it is written', ({ db }) => {
    const { looked, count } = counted(db);
    keepReads(db, 'run');
    expect([count(), count()]).toEqual([0, 0]);
    prepare(db, 'INSERT INTO hitl_votes SELECT * FROM hitl_votes WHERE false').run();
    expect(count()).toBe(0);
    expect(looked.times).toBe(1);
    prepare(db, INSERT).run();
    expect([count(), looked.times]).toEqual([1, 2]);
  });

  test('is read again once another connection has written', ({ dbPath }) => {
    const file = createDatabase({ dbPath });
    const { count } = counted(file);
    keepReads(file, 'run');
    expect(count()).toBe(0);
    const other = createDatabase({ dbPath });
    prepare(other, INSERT).run();
    expect(count()).toBe(1);
    other.close();
    file.close();
  });

  test('asks nothing of a working copy, which has no other connection', ({ dbPath }) => {
    createDatabase({ dbPath }).close();
    const copy = openWorkingCopy(dbPath);
    const asked: string[] = [];
    const { prepare: prepared } = copy;
    copy.prepare = ((sql: string) => {
      asked.push(sql);
      return prepared.call(copy, sql);
    }) as typeof copy.prepare;
    const { looked, count } = counted(copy);
    keepReads(copy, 'run');
    expect([count(), count(), looked.times]).toEqual([0, 0, 1]);
    prepare(copy, INSERT).run();
    expect([count(), looked.times]).toEqual([1, 2]);
    expect(asked.filter((sql) => sql.includes('data_version'))).toEqual([]);
    copy.close();
  });

  test('is read again after what was written is undone, all of it or a part', ({ db }) => {
    const { count } = counted(db);
    keepReads(db, 'run');
    const undone = (): void => {
      prepare(db, INSERT).run();
      expect(count()).toBe(1);
      throw new Error('undone');
    };
    expect(() => transaction(db, 'immediate', undone)).toThrow('undone');
    expect(count()).toBe(0);
    transaction(db, 'immediate', () => {
      expect(() => transaction(db, 'immediate', undone)).toThrow('undone');
      expect(count()).toBe(0);
    });
  });

  test('is read each time for a run that is not kept, or no longer', ({ db }) => {
    const { looked, count } = counted(db);
    count();
    const [first, second] = [keepReads(db, 'run'), keepReads(db, 'run')];
    first();
    count();
    count();
    expect(looked.times).toBe(2);
    second();
    count();
    count();
    expect(looked.times).toBe(4);
  });
});

describe('what a connection knows of a table', () => {
  test('is known until it writes the table in another way, or undoes what it wrote', ({ db }) => {
    const known = new TableKnowledge<string>(db, ['graph_order']);
    expect(known.get()).toBeUndefined();
    known.set('one');
    known.keeping(() => prepare(db, INSERT).run());
    expect(known.get()).toBe('one');
    prepare(db, INSERT).run();
    expect(known.get()).toBeUndefined();
    known.keeping(() => prepare(db, INSERT).run());
    expect(known.get()).toBeUndefined();
    const undone = (): void => {
      known.set('two');
      throw new Error('undone');
    };
    expect(() => transaction(db, 'immediate', undone)).toThrow('undone');
    expect(known.get()).toBeUndefined();
  });

  test('is not known once another connection has written', ({ dbPath }) => {
    const [file, other] = [createDatabase({ dbPath }), createDatabase({ dbPath })];
    const known = new TableKnowledge<string>(file, ['graph_order']);
    known.set('one');
    keepReads(file, 'run');
    const row = { threadId: 'run', name: 'row', tables: ['graph_order'] };
    keepRead(file, row, 'one');
    expect([known.get(), knownRead(file, row)]).toEqual(['one', 'one']);
    prepare(other, INSERT).run();
    expect([known.get(), knownRead(file, row)]).toEqual([undefined, undefined]);
    for (const each of [file, other]) each.close();
  });
});
