import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { type Driven, RECORDED_RUNS, type RecordedRun } from './recordedRuns.ts';

/** A run is resumed from one in so many of its checkpoints, of each run from others; from its last one always. */
const EVERY = howMany('DEVS_RESUMED_EVERY', 16);

interface Ended {
  readonly status: string;
  readonly values: unknown;
}

/** Drives and answers until the run has ended. */
async function toTheEnd(driven: Driven, answer: RecordedRun['answer']): Promise<Ended> {
  for (let drives = 0; drives < 20; drives += 1) {
    const { status, gates } = await driven.drive();
    if (status !== 'waiting') return { status, values: comparable(await driven.values()) };
    for (const gate of gates) await driven.decide(gate, answer(gate));
  }
  throw new Error('The run does not end.');
}

/** A state without what is new every time it is reached: ids, times, hashes of commits, stacks of errors. */
function comparable(values: unknown): unknown {
  const text = JSON.stringify(values, (key, value: unknown) => (key === 'stackTrace' ? null : value))
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/err-[\w-]+/g, 'ERROR')
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'ID')
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'HASH');
  return JSON.parse(text) as unknown;
}

interface Moment {
  readonly seq: number;
  readonly step: number;
}

/** The run's checkpoints, oldest first. */
const momentsOf = (db: Database, threadId: string): readonly Moment[] =>
  db
    .prepare<[string], number>(
      "SELECT seq FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' ORDER BY seq",
    )
    .pluck()
    .all(threadId)
    .map((seq, index) => ({ seq, step: index - 1 }));

/**
 * Sets a copy of the file back to a checkpoint, as if the process had died there: before or after the writes of the
 * tasks that came next.
 */
function setBack(db: Database, threadId: string, { seq }: Moment, keepWrites: boolean): void {
  const later = `SELECT checkpoint_id FROM checkpoints WHERE thread_id = @threadId AND seq ${keepWrites ? '>' : '>='} @seq`;
  const values = { threadId, seq };
  db.prepare(`DELETE FROM checkpoint_writes WHERE thread_id = @threadId AND checkpoint_id IN (${later})`).run(
    values,
  );
  db.prepare('DELETE FROM checkpoints WHERE thread_id = @threadId AND seq > @seq').run(values);
  if (!keepWrites) db.prepare('UPDATE checkpoints SET writes = 0 WHERE seq = @seq').run({ seq });
  db.prepare("UPDATE threads SET status = 'running', reason = NULL, lease_owner = NULL").run();
  db.prepare("UPDATE hitl_sessions SET status = 'awaiting_approval' WHERE status = 'cancelled'").run();
}

describe('a recorded run, resumed from its checkpoints', { timeout: 60_000 }, () => {
  test('is one of at least thirty', () => {
    expect(RECORDED_RUNS.length).toBeGreaterThanOrEqual(30);
  });

  test.for(RECORDED_RUNS)(
    '$name: ends in the same state',
    async ({ name: own, open, answer, workspace }, { db }) => {
      db.pragma('synchronous = OFF');
      const recorded = await open(db, workspace);
      const files = await workspace.open(recorded.threadId);
      const trees = [await files.snapshot()];
      const commits = [0];
      const keepTree = (): void => {
        void files.snapshot().then((tree) => trees.push(tree));
        void files.log().then((log) => commits.push(log.length));
      };
      recorded.events.on('NODE_FINISHED', keepTree);
      recorded.events.on('NODE_FAILED', keepTree);
      const expected = await toTheEnd(recorded, answer);

      const dir = mkdtempSync(join(tmpdir(), 'devs-resumed-'));
      const moments = momentsOf(db, recorded.threadId);
      expect(moments.length).toBeGreaterThan(1);
      const first = RECORDED_RUNS.findIndex(({ name }) => name === own) % EVERY;
      for (const [index, moment] of moments.entries()) {
        if (index % EVERY !== first && index !== moments.length - 1) continue;
        const path = join(dir, `${index}.sqlite`);
        db.prepare('VACUUM INTO ?').run(path);
        const copy = createDatabase({ dbPath: path });
        copy.pragma('synchronous = OFF');
        const keepWrites = index % 2 === 0;
        setBack(copy, recorded.threadId, moment, keepWrites);
        const nodesDone = Math.max(moment.step, 0) + (keepWrites ? 1 : 0);
        await files.restore(trees[nodesDone] ?? trees.at(-1) ?? '');
        // The steps of the visit that is resumed are recorded, its commit among them.
        files.truncate(commits[nodesDone + 1] ?? commits.at(-1) ?? 0);
        const resumed = await toTheEnd(await open(copy, workspace), answer);
        expect({ from: index, ...resumed }).toEqual({ from: index, ...expected });
        copy.close();
      }
      rmSync(dir, { recursive: true });
    },
  );
});
