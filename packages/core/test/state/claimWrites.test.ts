import { statSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { aThread } from '../../src/state/__tests__/aThread.ts';
import { ThreadInputStore } from '../../src/state/threads/ThreadInputStore.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import { test } from '../support/fixtures.ts';

const FRAME = 24 + 4096;
const LARGE = Buffer.alloc(100 * 1024, 'x');

/** Pages that one claim with its settlement puts into the write-ahead log. */
function pagesOfClaimAndSettle(dbPath: string, layout: 'own row' | 'row of the run'): number {
  const db = createDatabase({ dbPath });
  const threads = new ThreadStore(db);
  const input = { type: 'json', bytes: LARGE.toString('base64') };
  threads.create(aThread({ policies: layout === 'own row' ? {} : { input } }));
  if (layout === 'own row') new ThreadInputStore(db).insert('run-1', { type: 'json', bytes: LARGE });
  db.pragma('wal_checkpoint(TRUNCATE)');
  const result = threads.claim('run-1');
  if (result.kind === 'claimed') threads.settle(result.lease, 'waiting', { seenWakeSeq: 0 });
  const pages = Math.floor(statSync(`${dbPath}-wal`).size / FRAME);
  db.close();
  return pages;
}

describe('a claim and its settlement', () => {
  test('rewrite the row of the run, and not the 100 KiB it was given', async ({ dbPath, annotate }) => {
    const before = pagesOfClaimAndSettle(`${dbPath}.before`, 'row of the run');
    const now = pagesOfClaimAndSettle(dbPath, 'own row');
    await annotate(`pages of a claim and a settlement: ${now}, with the input in the row: ${before}`);
    expect(before).toBeGreaterThan(30);
    // The row, and the leaf of each index that a status has.
    expect(now).toBeLessThanOrEqual(6);
  });
});
