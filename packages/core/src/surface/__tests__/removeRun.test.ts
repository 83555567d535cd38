import path from 'node:path';
import type { Database } from 'better-sqlite3';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { openReadOnly } from '../../db/createDatabase.ts';
import type { Checks, Workspace } from '../../orchestration/ports.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator } from '../Orchestrator.ts';

const ada = { kind: 'human', id: 'ada' } as const;

/** What it tells is kept as a transcript. */
const speaking = (checks: Checks): Checks => ({
  run: (request) => {
    request.onActivity?.({ kind: 'output', text: `checked in ${request.dir}` });
    return checks.run(request);
  },
});

async function open(dbPath: string) {
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    agents: fakeAgents({ tasks: 1 }),
    workspace: new MemoryWorkspace(),
    checks: speaking(scriptedChecks()),
  });
  onTestFinished(() => devs.close());
  return devs;
}

/** To its end, over a rejection, so that every table has rows of it. */
async function runOf(devs: Orchestrator, id: string): Promise<void> {
  const run = await devs.start({ id, brief: `# ${id}\n`, review: 'task', budget: { calls: 100 } });
  const feedback = `only ${id} says so`;
  await run.decide(only((await run.resume()).gates), { approved: false, feedback, by: ada });
  await run.decide(only((await run.resume()).gates), { approved: true, by: ada });
  await run.decide(only((await run.resume()).gates), { approved: true, feedback: 'both say so', by: ada });
  await run.decide(only((await run.resume()).gates), { approved: true, by: ada });
  expect(await run.resume()).toMatchObject({ status: 'completed' });
}

/** Tables and how many of their rows hold a text, in any column. */
function tablesWith(db: Database, text: string): Readonly<Record<string, number>> {
  const names = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  const held = names.map((name) => {
    const rows = db.prepare(`SELECT * FROM ${name}`).raw().all() as unknown[][];
    const count = rows.filter((row) => row.some((value) => String(value).includes(text))).length;
    return [name, count] as const;
  });
  return Object.fromEntries(held.filter(([, count]) => count > 0));
}

function rows(dbPath: string, text: string): Readonly<Record<string, number>> {
  const db = openReadOnly({ dbPath: path.join(path.dirname(dbPath), 'state.sqlite') });
  try {
    return tablesWith(db, text);
  } finally {
    db.close();
  }
}

describe('removing a run', () => {
  test('leaves no row of it but the lines of the decision log, and the other run whole', async ({
    dbPath,
  }) => {
    const devs = await open(dbPath);
    await runOf(devs, 'first');
    await runOf(devs, 'second');
    const secondBefore = rows(dbPath, 'second');
    expect(rows(dbPath, 'first')).toMatchObject({
      threads: 1,
      agent_steps: expect.any(Number),
      step_transcripts: expect.any(Number),
    });

    const removed = await devs.remove('first', { by: ada });
    expect(removed).toMatchObject({ id: 'first', branch: null });
    expect(removed.bytes).toBeGreaterThan(0);
    expect(rows(dbPath, 'first')).toEqual({ events: 1, hitl_decisions: 4 });
    expect(rows(dbPath, 'only first says so')).toEqual({});
    expect(rows(dbPath, 'both say so')).toMatchObject({ decision_texts: 1 });
    expect(rows(dbPath, 'second')).toEqual(secondBefore);
    expect((await devs.verify()).findings).toEqual([]);
    expect((await devs.list()).map(({ id }) => id)).toEqual(['second']);

    // The file opens, and the name can be used again.
    devs.close();
    await runOf(await open(dbPath), 'first');
  });

  test('is refused before its end, while somebody drives it, and to an agent', async ({ dbPath }) => {
    const devs = await open(dbPath);
    const run = await devs.start({ id: 'first', brief: '# First\n' });
    await run.resume();
    await expect(devs.remove('first', { by: ada })).rejects.toMatchObject({ code: 'REMOVE_REFUSED' });
    await expect(devs.remove('first', { by: { kind: 'agent', id: 'a' }, force: true })).rejects.toMatchObject(
      { code: 'AGENT_MAY_NOT_DECIDE' },
    );
    await expect(devs.remove('none', { by: ada })).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    expect(await devs.list()).toHaveLength(1);
    await devs.remove('first', { by: ada, force: true });
    expect(await devs.list()).toEqual([]);
  });

  test('keeps the record until the files are gone', async ({ dbPath }) => {
    const devs = await open(dbPath);
    await runOf(devs, 'first');
    const workspace: Workspace = Object.assign(new MemoryWorkspace(), {
      remove: async (): Promise<never> => {
        throw new Error('the disk is busy');
      },
    });
    await expect(devs.remove('first', { by: ada, workspace })).rejects.toThrow('the disk is busy');
    expect(await devs.list()).toHaveLength(1);
    await devs.remove('first', { by: ada });
    expect(await devs.list()).toEqual([]);
  });
});
