import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { STATE_FILE } from '../../config/defaults.ts';
import { backup } from '../../db/backup.ts';
import { openState } from '../../db/createDatabase.ts';
import { doctor } from '../../state/doctor/doctor.ts';
import { ThreadStore } from '../../state/threads/ThreadStore.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { moveRunOut } from '../moveRun.ts';
import { Orchestrator } from '../Orchestrator.ts';

const ada = { kind: 'human', id: 'ada' } as const;

async function open(dir: string, workspace: MemoryWorkspace) {
  const agents = fakeAgents({ tasks: 2 });
  const devs = await Orchestrator.open({ dir, agents, workspace, checks: scriptedChecks() });
  onTestFinished(() => devs.close());
  return devs;
}

/** Everything that is told of a run. */
async function views(devs: Orchestrator, id: string) {
  const run = await devs.run(id);
  const [status, gates, log, transcript] = [run.status(), run.gates(), run.log(), run.transcript()];
  return { status: await status, gates: await gates, log: await log, transcript: await transcript };
}

function newFolder(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'devs-moved-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

describe('a run that is moved out', () => {
  test('is the only one of its new file, as it was, and goes on there', async ({ dbPath, db }) => {
    const workspace = new MemoryWorkspace();
    const here = await open(path.dirname(dbPath), workspace);
    for (const id of ['first', 'moved', 'last']) {
      const run = await here.start({ id, brief: `# ${id}\n` });
      await run.decide(only((await run.resume()).gates), { approved: true, by: ada });
      await run.resume();
    }
    const before = await views(here, 'moved');
    const others = [await views(here, 'first'), await views(here, 'last')];
    const there = newFolder();
    const file = path.join(there, STATE_FILE);
    await moveRunOut(db, 'moved', { by: ada, keep: (bytes) => void backup(openState(bytes), file) });

    expect(await here.ids()).toEqual(['last', 'first']);
    expect([await views(here, 'first'), await views(here, 'last')]).toEqual(others);
    expect((await here.verify()).ok).toBe(true);
    const elsewhere = await open(there, workspace);
    expect(await elsewhere.ids()).toEqual(['moved']);
    expect((await elsewhere.verify()).findings.filter(({ severity }) => severity !== 'note')).toEqual([]);
    const status = { ...before.status, updatedAt: expect.any(String) };
    expect(await views(elsewhere, 'moved')).toEqual({ ...before, status });
    const run = await elsewhere.run('moved');
    await run.decide(only(await run.gates()), { approved: true, by: ada });
    expect(await run.resume()).toMatchObject({ status: 'completed', commits: [{}, {}] });
  });

  test('is as it was where it could not be kept', async ({ dbPath, db }) => {
    const here = await open(path.dirname(dbPath), new MemoryWorkspace());
    await here.start({ id: 'kept', brief: '# Kept\n' });
    const full = (): never => {
      throw new RangeError('the disk is full');
    };
    await expect(moveRunOut(db, 'kept', { by: ada, keep: full })).rejects.toThrow('the disk is full');
    expect(await (await here.run('kept')).resume()).toMatchObject({ status: 'waiting' });
  });

  test('is nobody else’s meanwhile: whoever drives it keeps it', async ({ dbPath, db }) => {
    const here = await open(path.dirname(dbPath), new MemoryWorkspace());
    await here.start({ id: 'busy', brief: '# Busy\n' });
    const keep = (): never => {
      throw new Error('it was given away');
    };
    const threads = new ThreadStore(db);
    const claim = threads.claim('busy');
    if (claim.kind !== 'claimed') throw new Error('somebody drives it');
    await expect(moveRunOut(db, 'busy', { by: ada, keep })).rejects.toMatchObject({ code: 'THREAD_BUSY' });
    threads.release(claim.lease);
    const agent = { kind: 'agent', id: 'eve' } as const;
    await expect(moveRunOut(db, 'busy', { by: agent, keep })).rejects.toMatchObject({
      code: 'AGENT_MAY_NOT_DECIDE',
    });
    await expect(moveRunOut(db, 'nobody', { by: ada, keep })).rejects.toMatchObject({
      code: 'THREAD_NOT_FOUND',
    });
  });

  test('can be claimed at once in its new file', async ({ dbPath, db }) => {
    const here = await open(path.dirname(dbPath), new MemoryWorkspace());
    await here.start({ id: 'free', brief: '# Free\n' });
    let file: Uint8Array = new Uint8Array();
    await moveRunOut(db, 'free', { by: ada, keep: (bytes) => (file = bytes) });
    const moved = openState(file);
    onTestFinished(() => void moved.close());
    expect(new ThreadStore(moved).driverOf('free')).toBeNull();
    expect(doctor(moved).ok).toBe(true);
    expect(doctor(db).ok).toBe(true);
  });
});
