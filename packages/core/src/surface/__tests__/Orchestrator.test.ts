import path from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator } from '../Orchestrator.ts';

const BRIEF = '# CSV export\n\nExport the table as CSV.\n';
const ada = { kind: 'human', id: 'ada' } as const;

describe('Orchestrator', () => {
  test('takes a brief through both gates to one commit per task', async ({ dbPath }) => {
    const calls: string[] = [];
    const devs = await Orchestrator.open({
      dir: path.dirname(dbPath),
      agents: fakeAgents({ onCall: (what) => calls.push(what) }),
      workspace: new MemoryWorkspace(),
      checks: scriptedChecks(),
    });
    const run = await devs.start({ id: 'csv-export', brief: BRIEF });

    const atDesign = await run.drive();
    expect(atDesign).toMatchObject({ status: 'suspended', gates: [{ kind: 'design_approval' }] });
    run.decide(only(atDesign.gates), { approved: true, by: ada });
    const atDag = await run.drive();
    expect(atDag).toMatchObject({ status: 'suspended', gates: [{ kind: 'dag_approval' }] });
    run.decide(only(atDag.gates), { approved: true, by: ada });

    const done = await run.drive();
    expect(done.status).toBe('completed');
    expect(done.commits.map(({ subject }) => subject)).toEqual(['Task 1', 'Task 2', 'Task 3']);
    devs.close();
  });
});
