import { setImmediate } from 'node:timers/promises';
import { END, START, StateGraph } from '@langchain/langgraph';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { interceptStatements } from '../../../test/support/interceptStatements.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { localHost } from '../../state/threads/hostIdentity.ts';
import { ThreadStore } from '../../state/threads/ThreadStore.ts';
import { durable } from '../app/durable.ts';
import * as loopTurn from '../execution/yieldToEventLoop.ts';
import { step } from '../node/step.ts';
import { OwnState, type OwnUpdate, says, twoSteps } from './ownGraph.ts';

const THOUGHTS = "SELECT count(*) FROM langgraph_checkpoints WHERE turn_type = 'Thought'";

/** Thoughts that are on disk, as another connection reads them. */
function onDisk(dbPath: string): () => number {
  return () => {
    const reader = new BetterSqlite3(dbPath, { readonly: true });
    const count = reader.prepare<[], number>(THOUGHTS).pluck().get() ?? 0;
    reader.close();
    return count;
  };
}

/** Only what happens makes the loop turn, not how slow the machine is. */
const withoutSlices = (): unknown => vi.spyOn(loopTurn, 'shouldYield').mockReturnValue(false);

/** What the nodes have found on disk. */
function found(dbPath: string) {
  const thoughts = onDisk(dbPath);
  const seen: number[] = [];
  const look = (): OwnUpdate => {
    seen.push(thoughts());
    return { log: ['looked'] };
  };
  return { seen, look };
}

describe('durability', () => {
  test('has each super-step on disk before the next with sync, of the app or of the execution', async ({
    dbPath,
  }) => {
    withoutSlices();
    const { seen, look } = found(dbPath);
    await durable(twoSteps(look, look), { file: dbPath, durability: 'sync' }).run('app', {});
    await durable(twoSteps(look, look), { file: dbPath, durability: 'async' }).run(
      'execution',
      {},
      { durability: 'sync' },
    );
    expect(seen).toEqual([1, 2, 3, 4]);
  });

  test('is async where nothing else is said: what nodes came to is on disk once the loop has turned', async ({
    dbPath,
  }) => {
    withoutSlices();
    const { seen, look } = found(dbPath);
    const second = async (): Promise<OwnUpdate> => {
      look();
      await setImmediate();
      return look();
    };
    await durable(twoSteps(look, second), { file: dbPath }).run('run', {});
    await durable(twoSteps(look, look), { file: dbPath, durability: 'async' }).run('same', {});
    expect(seen).toEqual([0, 0, 2, 2, 2]);
  });

  test('is as good as sync for who reads the stream here: it has each super-step before the next', async ({
    dbPath,
  }) => {
    withoutSlices();
    const { seen, look } = found(dbPath);
    const app = durable(twoSteps(look, look), { file: dbPath });
    for await (const event of app.stream('run', {})) if (event.mode === 'updates') break;
    expect(seen).toEqual([0]);
    expect((await app.run('run')).status).toBe('completed');
    expect(seen).toEqual([0, 1]);
  });

  test('is never late for a call: all before it is on disk, and its result before it is used', async ({
    dbPath,
  }) => {
    withoutSlices();
    const { seen, look } = found(dbPath);
    const results: number[] = [];
    const calls = async (): Promise<OwnUpdate> => {
      await step('call', () => {
        look();
        return 1;
      });
      const reader = new BetterSqlite3(dbPath, { readonly: true });
      results.push(
        reader.prepare<[], number>("SELECT count(*) FROM agent_steps WHERE state = 'done'").pluck().get() ??
          0,
      );
      reader.close();
      return {};
    };
    await durable(twoSteps(says('first'), calls), { file: dbPath, durability: 'async' }).run('run', {});
    expect([seen, results]).toEqual([[2], [1]]);
  });

  test('is sync for a run whose driver has died, until it has made progress', async ({ dbPath }) => {
    withoutSlices();
    const { seen, look } = found(dbPath);
    const db = createDatabase({ dbPath });
    const builder = new StateGraph(OwnState)
      .addNode('work', look)
      .addEdge(START, 'work')
      .addConditionalEdges('work', ({ log }) => (log.length < 3 ? 'work' : END), ['work', END]);
    const app = durable(builder, { db, durability: 'async' });
    await app.start('run', {});
    dies(db, 'run');
    await app.run('run');
    expect(seen).toEqual([1, 2, 2]);
    db.close();
  });

  test('lets no node begin after what is late could not be written', async ({ db }) => {
    withoutSlices();
    let isFull = false;
    const fails = (work: () => unknown, { source }: { readonly source: string }): unknown => {
      if (isFull && source.startsWith('INSERT INTO langgraph_checkpoints'))
        throw new BetterSqlite3.SqliteError('database or disk is full', 'SQLITE_FULL');
      return work();
    };
    interceptStatements(db, fails);
    const begun: string[] = [];
    const first = async (): Promise<OwnUpdate> => {
      begun.push('first');
      isFull = begun.length === 1;
      await setImmediate();
      await setImmediate();
      return {};
    };
    const second = (): OwnUpdate => {
      begun.push('second');
      return {};
    };
    const app = durable(twoSteps(first, second), { db, durability: 'async' });
    await expect(app.run('run', {})).rejects.toMatchObject({ code: 'STATE_DISK_FULL' });
    expect(begun).toEqual(['first']);
    isFull = false;
    expect((await app.run('run')).status).toBe('completed');
  });

  test.for(['exit', 'none', 1])('refuses %s before anything is recorded', async (durability, { db }) => {
    const given = { durability } as unknown as { readonly durability: 'sync' };
    expect(() => durable(twoSteps(), { db, ...given })).toThrow(RangeError);
    const app = durable(twoSteps(), { db, durability: 'async' });
    await expect(app.run('run', {}, given)).rejects.toThrow(RangeError);
    await expect(app.run('run')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  });
});

/** Its driver has died in its first node. */
function dies(db: Database, id: string): void {
  const host = { ...localHost(), pid: 2 ** 30, isProcessAlive: () => false };
  const threads = new ThreadStore(db, { host });
  const claim = threads.claim(id);
  if (claim.kind === 'busy') throw new Error('The dead driver counts as alive.');
  threads.begin(claim.lease);
}
