import { copyFileSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { aThread } from '../../src/state/__tests__/aThread.ts';
import { GraphCheckpointStore } from '../../src/state/checkpoints/GraphCheckpointStore.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { tried } from '../support/tried.ts';
import { startCommitting } from './committingProcess.ts';

const FILE_BYTES = 100 * 1024 * 1024;
const REOPENED = howMany('DEVS_REOPENED', 4);
const RUN = { threadId: 'run-1', checkpointNs: '' };

/** What a driver does first: opens the file, takes over the run and reads its newest state. */
function recover(dbPath: string): { readonly ms: number; readonly newest: number } {
  const start = performance.now();
  const db = createDatabase({ dbPath });
  const claim = new ThreadStore(db).claim(RUN.threadId);
  const store = new GraphCheckpointStore(db);
  const newest = store.loadLatest(RUN)?.checkpointId ?? '0';
  const value = store.loadChannel(RUN, { channel: 'value', version: newest });
  const ms = performance.now() - start;
  expect(claim).toMatchObject({ kind: 'claimed', recovered: true });
  expect(value?.bytes).toHaveLength(100_000);
  db.close();
  return { ms, newest: Number(newest) };
}

describe('a large state file', () => {
  test('whose writer was killed opens again with everything it had acknowledged', {
    timeout: 120_000 + REOPENED * 1_000,
  }, async ({ annotate, db, dbPath, task }) => {
    new ThreadStore(db).create(aThread());
    db.close();
    const writer = startCommitting(dbPath, { threadId: 'run-1', valueBytes: 100_000, pauseMs: 0 });
    onTestFinished(writer.kill);
    const size = (): number => statSync(dbPath).size;
    while (size() < FILE_BYTES) await sleep(20);
    await writer.kill();
    const acknowledged = writer.acknowledged();
    const logBytes = statSync(`${dbPath}-wal`).size;

    const times: number[] = [];
    for (let n = 0; n < REOPENED; n += 1) {
      const copy = join(dirname(dbPath), 'copy', 'state.sqlite');
      mkdirSync(dirname(copy));
      for (const suffix of ['', '-wal']) copyFileSync(dbPath + suffix, copy + suffix);
      const { ms, newest } = recover(copy);
      times.push(ms);
      tried(task, { ways: times.length });
      expect(newest).toBeGreaterThanOrEqual(acknowledged);
      rmSync(dirname(copy), { recursive: true });
    }
    expect(recover(dbPath).newest).toBeGreaterThanOrEqual(acknowledged);
    const survivor = createDatabase({ dbPath });
    const before = performance.now();
    expect(doctor(survivor)).toMatchObject({ ok: true, findings: [] });
    const doctorMs = performance.now() - before;
    survivor.close();

    const p95 = times.toSorted((a, b) => a - b)[Math.ceil(REOPENED * 0.95) - 1] ?? 0;
    const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);
    await annotate(
      `${mebibytes(size())} MiB with a log of ${mebibytes(logBytes)} MiB, p95 of ${REOPENED}: ${p95.toFixed(0)} ms, doctor: ${doctorMs.toFixed(0)} ms`,
    );
  });
});
