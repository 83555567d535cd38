import path from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator } from '../Orchestrator.ts';

const RESCUE = { ref: 'refs/devs/rescued/1', commit: 'c0ffee', files: 2 };

/** Somebody changed the folder before the first step of a turn. */
class EditedWorkspace extends MemoryWorkspace {
  readonly discarded: string[] = [];

  override async open(threadId: string) {
    const run = await super.open(threadId);
    const restore = run.restore.bind(run);
    let isFirst = true;
    return Object.assign(run, {
      restore: async (tree: string) => {
        await restore(tree);
        const rescue = isFirst ? RESCUE : null;
        isFirst = false;
        return rescue;
      },
      discard: async (tree: string) => void this.discarded.push(tree),
    });
  }
}

describe('files that a person left in the folder of a run', () => {
  test('are told in the log when they are set aside, and what checks leave is discarded', async ({
    dbPath,
  }) => {
    const workspace = new EditedWorkspace();
    const devs = await Orchestrator.open({
      dir: path.dirname(dbPath),
      agents: fakeAgents({ tasks: 1 }),
      workspace,
      checks: scriptedChecks(),
    });
    const run = await devs.start({ id: 'r', brief: '# B', gates: { design: 'auto', dag: 'auto' } });
    expect(await run.resume()).toMatchObject({ status: 'completed' });
    const rescued = (await run.log()).filter(({ name }) => name === 'WORKSPACE_RESCUED');
    expect(rescued.map(({ taskId, payload }) => ({ taskId, payload }))).toContainEqual({
      taskId: 'r:1',
      payload: RESCUE,
    });
    expect(workspace.discarded).toHaveLength(2);
    devs.close();
  });
});
