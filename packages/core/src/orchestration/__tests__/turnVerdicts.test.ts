import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { DevsError } from '../../errors/DevsError.ts';
import * as verdicts from '../task/verdicts.ts';
import { driveToTheEnd } from './aPipeline.ts';
import { aWorld, file, quiet, work } from './aWorld.ts';

beforeEach(() => void vi.spyOn(verdicts, 'findLosses').mockReturnValue([]));
afterEach(() => void vi.restoreAllMocks());

const loss = { kind: 'deleted', path: 'test/old.txt', words: 'deleted' } as const;
const agents = {
  ...quiet,
  writeTest: async () => work(file('test/a.txt', 'a=1')),
  implement: async () => work(file('src/a.txt', 'a=1')),
};

/** A step as a release recorded it that reviewed what was not documented yet, beside those that are there. */
function recordAsBefore(db: Database, name: string, result: object): void {
  const json = JSON.stringify(result);
  const sha = createHash('sha256').update(json).digest('hex');
  const { thread_id, lg_task_id } = db
    .prepare("SELECT * FROM agent_steps WHERE name = 'red'")
    .get() as Record<string, string>;
  db.prepare(
    `INSERT INTO agent_steps (thread_id, lg_task_id, name, node, kind, state, result_json, result_sha256, started_at)
     VALUES (?, ?, ?, 'implement', 'work', 'done', ?, ?, 0)`,
  ).run(thread_id, lg_task_id, name, json, sha);
}

test('a turn that an older release began goes on with its steps, and is checked again before the commit', async ({
  db,
}) => {
  let outages = 1;
  const world = await aWorld(db, {
    agents: {
      ...agents,
      document: async () => {
        outages -= 1;
        if (outages < 0) return work(file('README.md', 'a'));
        throw new DevsError('No.', { code: 'AGENT_FAILED', remedy: 'Wait.' });
      },
      review: async () => {
        throw new Error('It was asked a second time.');
      },
    },
  });
  await expect(driveToTheEnd(world)).rejects.toMatchObject({ code: 'AGENT_FAILED' });
  recordAsBefore(db, 'review', { approved: true, comments: 'Fine.' });
  const check = { passed: true, exitCode: 0, timedOut: false, output: 'ok', command: 'lines' };
  recordAsBefore(db, 'green', check);
  expect(await driveToTheEnd(world)).toMatchObject({ status: 'completed' });
  expect(world.runs).toEqual(['not ok: a=1', 'ok']);
  expect(await world.committed()).toHaveProperty(['README.md']);
});

test('work by which tests lose something is refused where no person reviews it, before its review is paid', async ({
  db,
}) => {
  vi.mocked(verdicts.findLosses).mockReturnValueOnce([loss]);
  const world = await aWorld(db, { agents });
  const { values } = await driveToTheEnd(world);
  expect(values?.agentLogs[0]?.content.observation).toContain('- test/old.txt: deleted');
  expect(values).toMatchObject({ taskAttempts: 2, tasks: [{ status: 'completed' }] });
  expect(values?.tasks[0]).not.toHaveProperty('losses');
  expect(vi.mocked(verdicts.findLosses).mock.calls.at(-1)?.[1]).toMatchObject({
    files: [
      { path: 'src/a.txt', before: null, after: 'a=1\n' },
      { path: 'test/a.txt', before: null, after: 'a=1\n' },
    ],
    now: { output: 'ok' },
  });
});
