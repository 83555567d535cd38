import { rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { backup } from '../../src/db/backup.ts';
import { openReadOnly } from '../../src/db/createDatabase.ts';
import { aThread } from '../../src/state/__tests__/aThread.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { type CommittingProcess, startCommitting } from './committingProcess.ts';

const BACKUPS = howMany('DEVS_BACKUPS', 12);

/** Lets the writer go on for a while, so that every backup meets another moment of it. */
async function moreCommits({ acknowledged }: CommittingProcess, count: number): Promise<void> {
  const until = acknowledged() + count;
  while (acknowledged() < until) await nextTurn();
}

describe('backup', () => {
  test(`holds what a live writer had committed before it began (${BACKUPS} times)`, {
    timeout: 60_000 + BACKUPS * 2_000,
  }, async ({ annotate, db, dbPath }) => {
    new ThreadStore(db).create(aThread());
    const writer = startCommitting(dbPath, { threadId: 'run-1', valueBytes: 2000, pauseMs: 4 });
    onTestFinished(writer.kill);

    let during = 0; // copies beside which the writer committed
    // On a fast disk a copy may be made between two commits: one at least has to be made beside one.
    for (let n = 0; n < BACKUPS || during === 0; n += 1) {
      await moreCommits(writer, 3);
      const before = writer.acknowledged();
      const target = join(dirname(dbPath), `copy-${n}.sqlite`);
      backup(db, target);
      await nextTurn();
      during += writer.acknowledged() > before ? 1 : 0;

      expect(statSync(target).mode & 0o777).toBe(0o600);
      const copy = openReadOnly({ dbPath: target });
      const newest = copy
        .prepare<[], number>('SELECT max(CAST(checkpoint_id AS INTEGER)) FROM checkpoints')
        .pluck()
        .get();
      expect(newest).toBeGreaterThanOrEqual(before);
      expect(copy.prepare('SELECT count(*) FROM checkpoints').pluck().get()).toBe(newest); // no gap
      expect(doctor(copy)).toMatchObject({ ok: true, findings: [] });
      copy.close();
      rmSync(target);
    }
    await annotate(`${BACKUPS} backups, with commits meanwhile: ${during}`);
  });
});
