import path from 'node:path';
import { expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { Orchestrator } from '../../surface/Orchestrator.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';

/** More than 1 MiB, as one value. */
const TASKS = 5000;

test('a plan of thousands of tasks is shown at its gate, approved and begun', async ({ dbPath }) => {
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    agents: fakeAgents({ tasks: TASKS }),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  const run = await devs.start({ id: 'r', brief: '# B', gates: { design: 'auto' } });
  const [gate = expect.fail('no gate')] = (await run.drive()).gates;
  expect(gate.kind).toBe('dag_approval');
  await run.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
  await run.drive({ only: 'T1' });
  expect(JSON.stringify((await run.state())?.tasks).length).toBeGreaterThan(1024 * 1024);
  const { tasks } = await run.status();
  expect(tasks).toHaveLength(TASKS);
  expect(tasks[0]).toMatchObject({ label: 'T1', status: 'completed' });
  devs.close();
});
