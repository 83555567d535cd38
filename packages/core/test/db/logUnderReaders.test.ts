import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { JOURNAL_SIZE_LIMIT } from '../../src/db/pragmas.ts';
import { aThread } from '../../src/state/__tests__/aThread.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import { test } from '../support/fixtures.ts';
import { startCommitting } from './committingProcess.ts';
import { startCounting } from './countingProcess.ts';

const COMMITS = 2000;
const READERS = 2;
const PAUSE_MS = 5;

describe('the write-ahead log', () => {
  test(`stays below 16 MiB through ${COMMITS} commits of 100 KB while ${READERS} viewers poll`, {
    timeout: 120_000,
  }, async ({ annotate, db, dbPath }) => {
    new ThreadStore(db).create(aThread());
    const readers = Array.from({ length: READERS }, () =>
      startCounting('packages/core/test/db/pollingReader.child.ts', [dbPath, 'run-1', String(PAUSE_MS)]),
    );
    while (readers.some(({ count }) => count() === 0)) await sleep(20);
    const writer = startCommitting(dbPath, { threadId: 'run-1', valueBytes: 100_000, pauseMs: 0 });
    onTestFinished(async () => {
      await Promise.all([writer, ...readers].map(({ kill }) => kill()));
    });

    let largest = 0;
    while (writer.acknowledged() < COMMITS) {
      await sleep(2);
      largest = Math.max(largest, statSync(`${dbPath}-wal`).size);
    }
    const polls = readers.map(({ count }) => count());
    await annotate(JSON.stringify({ commits: COMMITS, polls, largest }));
    expect(Math.min(...polls)).toBeGreaterThan(50); // else nobody was polling
    expect(largest).toBeLessThanOrEqual(JOURNAL_SIZE_LIMIT);
  });
});
