import { expect, it } from 'vitest';
import { createDatabase } from '../../../db/createDatabase.ts';
import { FileRuns } from '../../../engine/remote/FileRuns.ts';
import { MemoryWorkspace } from '../../../testing/MemoryWorkspace.ts';
import { Orchestrator } from '../../Orchestrator.ts';

const ada = { kind: 'human', id: 'ada' } as const;

it('a run of a file that several share is removed as from a folder, and its workspace is left alone', async () => {
  const db = createDatabase({ dbPath: ':memory:' });
  const devs = await Orchestrator.open({ runs: new FileRuns(db) });
  for (const id of ['one', 'two']) await (await devs.start({ id, brief: `# ${id}\n\nSell.\n` })).resume();
  await expect(devs.remove('one', { by: ada })).rejects.toMatchObject({
    code: 'REMOVE_REFUSED',
    context: { reason: 'not_ended' },
  });
  await expect(devs.remove('one', { by: { kind: 'agent', id: 'a' }, force: true })).rejects.toMatchObject({
    code: 'AGENT_MAY_NOT_DECIDE',
  });
  const workspace = Object.assign(new MemoryWorkspace(), {
    remove: () => Promise.reject(new Error('It is elsewhere.')),
  });
  const removed = await devs.remove('one', { by: ada, force: true, workspace });
  expect(removed).toEqual({ id: 'one', branch: null, bytes: expect.any(Number) });
  expect(await devs.ids()).toEqual(['two']);
  await expect(devs.remove('one', { by: ada })).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  devs.close();
  db.close();
});
