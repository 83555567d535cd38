import path from 'node:path';
import { expect, vi } from 'vitest';
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
  const [gate = expect.fail('no gate')] = (await run.resume()).gates;
  expect(gate.kind).toBe('dag_approval');
  await run.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
  await run.resume({ only: 'T1' });
  expect(JSON.stringify((await run.state())?.tasks).length).toBeGreaterThan(1024 * 1024);
  const { tasks } = await run.status();
  expect(tasks).toHaveLength(TASKS);
  expect(tasks[0]).toMatchObject({ label: 'T1', status: 'completed' });
  devs.close();
});

test('of a large plan a step serializes and hashes what it has changed', async ({ dbPath }) => {
  const [small, large] = [await writtenPerTask(20, dbPath), await writtenPerTask(400, `${dbPath}-large`)];
  // Both have whole plans in them only as bytes that are stored.
  expect(large).toBeLessThan(2 * small);
});

/** Characters that were made JSON, from the third task to the fifth. */
async function writtenPerTask(tasks: number, file: string): Promise<number> {
  const stringify = vi.spyOn(JSON, 'stringify');
  const seen: number[] = [];
  const stop = new AbortController();
  const onCall = (what: string): void => {
    if (!/^T[357] implement$/.test(what)) return;
    const made = stringify.mock.results.map(({ value }) => (value as string | undefined)?.length ?? 0);
    seen.push(made.reduce((sum, length) => sum + length, 0));
    if (what.startsWith('T7')) stop.abort();
  };
  const devs = await Orchestrator.open({
    dir: path.dirname(file),
    file,
    agents: fakeAgents({ tasks, onCall }),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  const run = await devs.start({ id: 'r', brief: '# B', gates: { design: 'auto', dag: 'auto' } });
  await run.resume({ drain: stop.signal });
  devs.close();
  stringify.mockRestore();
  const [at3 = expect.fail(), at5 = expect.fail()] = seen;
  return at5 - at3;
}
