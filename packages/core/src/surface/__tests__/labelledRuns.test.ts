import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fakeAgents, MemoryRuns, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator } from '../Orchestrator.ts';

const BRIEF = '# CSV export\n\nExport the table as CSV.\n';

async function opened(where: 'one file' | 'a file each'): Promise<Orchestrator> {
  const dir = mkdtempSync(join(tmpdir(), 'devs-labels-'));
  const parts = { agents: fakeAgents({}), workspace: new MemoryWorkspace(), checks: scriptedChecks() };
  const at = where === 'one file' ? { dir } : { runs: new MemoryRuns() };
  const devs = await Orchestrator.open({ ...at, ...parts });
  onTestFinished(() => {
    devs.close();
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  });
  return devs;
}

describe.for(['one file', 'a file each'] as const)('runs of the pipeline in %s', (where) => {
  test('are found by the labels of their start, and keep them', async () => {
    const devs = await opened(where);
    const metadata = { tenant: 'acme', size: 5, trial: false, owner: null, __proto__x: 'a' };
    const run = await devs.start({ id: 'export', brief: BRIEF, metadata, tags: ['b', 'a', 'b'] });
    await devs.start({ id: 'other', brief: BRIEF, tags: ['a'] });
    await devs.start({ id: 'plain', brief: BRIEF });
    expect(await run.status()).toMatchObject({ metadata, tags: ['a', 'b'] });
    const found = async (filter: NonNullable<Parameters<Orchestrator['list']>[0]>) =>
      (await devs.list(filter)).map(({ id }) => id);
    expect(await found({ metadata: { tenant: 'acme', size: 5 } })).toEqual(['export']);
    expect(await found({ metadata: { size: '5' } })).toEqual([]);
    expect((await found({ tags: ['a'] })).sort()).toEqual(['export', 'other']);

    await run.resume();
    expect((await devs.openGates({ metadata: { owner: null } })).gates).toMatchObject([
      { threadId: 'export', kind: 'design_approval' },
    ]);
    // The same run again: its labels are those of its start.
    const again = await devs.start({ id: 'export', brief: BRIEF, metadata: { tenant: 'other' }, tags: [] });
    expect(await again.status()).toMatchObject({ status: 'waiting', metadata, tags: ['a', 'b'] });
    expect(await (await devs.run('plain')).status()).toMatchObject({ metadata: {}, tags: [] });
  });

  test('are not started with labels that cannot be found', async () => {
    const devs = await opened(where);
    for (const labels of [
      { metadata: { a: [1] } },
      { metadata: ['a'] },
      { metadata: { a: Number.NaN } },
      { tags: [1] },
      { tags: 'a' },
    ])
      await expect(devs.start({ id: 'r', brief: BRIEF, ...(labels as object) })).rejects.toThrow(TypeError);
    expect(await devs.ids()).toEqual([]);
  });
});
