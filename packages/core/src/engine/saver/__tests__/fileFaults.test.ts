import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import {
  type Checkpoint,
  type CheckpointMetadata,
  emptyCheckpoint,
  uuid6,
} from '@langchain/langgraph-checkpoint';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { interceptStatements } from '../../../../test/support/interceptStatements.ts';
import { tried } from '../../../../test/support/tried.ts';
import { MIN_BUSY_TIMEOUT_MS } from '../../../db/busy.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { applyPragmas } from '../../../db/pragmas.ts';
import { SqliteSaver } from '../SqliteSaver.ts';

const THREAD = { configurable: { thread_id: 'run-1', checkpoint_ns: '' } };
const METADATA: CheckpointMetadata = { source: 'loop', step: 0, parents: {} };

let drawn = 0;

/** Text that does not compress, so that the file fills. The same in every run: a random one may look like a secret. */
function noise(bytes: number): string {
  const blocks = Array.from({ length: Math.ceil(bytes / 32) }, () => {
    drawn += 1;
    return createHash('sha256').update(String(drawn)).digest();
  });
  return Buffer.concat(blocks).subarray(0, bytes).toString('base64');
}

function checkpointOf(values: Record<string, unknown>, version: number): Checkpoint {
  const versions = Object.fromEntries(Object.keys(values).map((channel) => [channel, version]));
  return { ...emptyCheckpoint(), id: uuid6(0), channel_values: values, channel_versions: versions };
}

/** Puts one checkpoint on top of another. */
async function put(saver: SqliteSaver, config: object, at: number, text: string): Promise<object> {
  return await saver.put(config, checkpointOf({ text }, at), METADATA, { text: at });
}

const rowsIn = (db: Database, table: string): unknown =>
  db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();

describe('a full file', () => {
  test('refuses the write with STATE_DISK_FULL, loses nothing, and goes on when there is room', async ({
    db,
  }) => {
    const saver = new SqliteSaver(db);
    let config: object = THREAD;
    const texts: string[] = [];
    db.pragma(`max_page_count = ${Number(db.pragma('page_count', { simple: true })) + 40}`);
    const fill = async (): Promise<void> => {
      for (let at = texts.length + 1; at < 100; at += 1) {
        const text = noise(8000);
        config = await put(saver, config, at, text);
        texts.push(text);
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: 'STATE_DISK_FULL' });
    expect(texts.length).toBeGreaterThan(5);
    expect(texts.length).toBeLessThan(30);
    await expect(saver.putWrites(config, [['text', noise(20_000)]], 'task')).rejects.toMatchObject({
      code: 'STATE_DISK_FULL',
    });
    const read = async (): Promise<unknown[]> => {
      const found: unknown[] = [];
      for await (const { checkpoint } of saver.list(THREAD)) found.push(checkpoint.channel_values['text']);
      return found.toReversed();
    };
    expect(await read()).toEqual(texts);
    expect((await saver.getTuple(config))?.pendingWrites).toEqual([]);

    db.pragma('max_page_count = 1000000');
    const more = noise(8000);
    await put(saver, config, texts.length + 1, more);
    expect(await read()).toEqual([...texts, more]);
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  });
});

describe('a failed commit', () => {
  const FAULTS = 80;

  /** A connection whose commits fail on demand: before anything is on disk, or after everything is. */
  function withFaults(dbPath: string): { readonly db: Database; fault: 'none' | 'lost' | 'unknown' } {
    const db = new BetterSqlite3(dbPath);
    applyPragmas(db, { synchronous: 'full', busyTimeoutMs: MIN_BUSY_TIMEOUT_MS });
    const state: ReturnType<typeof withFaults> = { db, fault: 'none' };
    const ioError = (): Error => new BetterSqlite3.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC');
    interceptStatements(
      db,
      (commit, { source }) => {
        if (source !== 'COMMIT') return commit();
        if (state.fault === 'lost') throw ioError();
        const result = commit();
        if (state.fault === 'unknown') throw ioError();
        return result;
      },
      { controls: true },
    );
    return state;
  }

  test(`is an error, and repeating the call neither doubles nor loses anything (${FAULTS} faults)`, async ({
    dbPath,
    task,
  }) => {
    createDatabase({ dbPath }).close();
    const faults = withFaults(dbPath);
    const { db } = faults;
    const saver = new SqliteSaver(db);
    let config: object = THREAD;
    let text = '';
    for (let at = 1; at <= FAULTS; at += 1) {
      text = at % 9 === 0 ? noise(3000) : `${text} line ${at}`;
      const checkpoint = checkpointOf({ text }, at);
      const write = async (): Promise<void> => {
        const next = await saver.put(config, checkpoint, METADATA, { text: at });
        await saver.putWrites(next, [['text', `${text} more`]], `task-${at}`);
        config = next;
      };
      faults.fault = at % 2 === 0 ? 'lost' : 'unknown';
      tried(task, { ways: at });
      await expect(write()).rejects.toMatchObject({ code: 'STATE_IO' });
      expect(db.inTransaction).toBe(false);
      const { fault } = faults;
      faults.fault = 'none';
      const found = await saver.getTuple({
        configurable: { ...THREAD.configurable, checkpoint_id: checkpoint.id },
      });
      expect(found === undefined).toBe(fault === 'lost');
      await write();
      const tuple = await saver.getTuple(config);
      expect(tuple?.checkpoint.channel_values).toEqual({ text });
      expect(tuple?.pendingWrites).toEqual([[`task-${at}`, 'text', `${text} more`]]);
    }
    for (const table of ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes'])
      expect(rowsIn(db, table)).toBe(FAULTS);
    const restarted = new SqliteSaver(createDatabase({ dbPath: db.name }));
    expect((await restarted.getTuple(THREAD))?.checkpoint.channel_values).toEqual({ text });
    restarted.close();
  });
});

describe('a clock that steps', () => {
  test.for([
    ['50 ms', 50],
    ['an hour', 3_600_000],
    ['a day', 86_400_000],
  ] as const)(
    'back %s, in the process and across a restart, does not change which checkpoint is the newest',
    async ([, back], { dbPath }) => {
      const clock = vi.spyOn(Date, 'now');
      let now = Date.UTC(2026, 0, 2);
      let config: object = THREAD;
      const ids: string[] = [];
      for (const restart of [false, true]) {
        const saver = new SqliteSaver(createDatabase({ dbPath }));
        if (restart) expect((await saver.getTuple(THREAD))?.checkpoint.id).toBe(ids.at(-1));
        for (let step = 0; step < 3; step += 1) {
          clock.mockReturnValue(now);
          const checkpoint = checkpointOf({}, 1);
          ids.push(checkpoint.id);
          config = await saver.put(config, checkpoint, METADATA, {});
          expect((await saver.getTuple(THREAD))?.checkpoint.id).toBe(ids.at(-1));
          now -= back;
        }
        saver.close();
      }
      clock.mockRestore();
      const saver = new SqliteSaver(createDatabase({ dbPath }));
      const listed: string[] = [];
      for await (const { checkpoint } of saver.list(THREAD)) listed.push(checkpoint.id);
      expect(listed).toEqual(ids.toReversed());
      saver.close();
    },
  );
});

describe('what was put', () => {
  test('stays as it was when other checkpoints, writes and threads come after it', async ({ db }) => {
    const saver = new SqliteSaver(db);
    const first = await put(saver, THREAD, 1, 'x'.repeat(5000));
    await saver.putWrites(first, [['text', 'w'.repeat(5000)]], 'task');
    const before = await saver.getTuple(first);
    let config = first;
    for (let at = 2; at < 40; at += 1) config = await put(saver, config, at, `${'x'.repeat(5000)} ${at}`);
    await put(saver, { configurable: { thread_id: 'run-2' } }, 1, 'x'.repeat(5000));
    await saver.deleteThread('run-2');
    expect(await saver.getTuple(first)).toEqual(before);
  });
});

describe('a file that was deleted', () => {
  test('acknowledges no checkpoint and no write, also without a lease', async ({ db, dbPath }) => {
    const saver = new SqliteSaver(db);
    const config = await put(saver, THREAD, 1, 'kept');
    rmSync(dbPath);
    await expect(put(saver, config, 2, 'lost')).rejects.toMatchObject({ code: 'STATE_REPLACED' });
    await expect(saver.putWrites(config, [['text', 'lost']], 'task')).rejects.toMatchObject({
      code: 'STATE_REPLACED',
    });
  });
});
