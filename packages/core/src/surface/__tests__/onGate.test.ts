import path from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import type { OnGate } from '../gatesOfRun.ts';
import { Orchestrator } from '../Orchestrator.ts';

const ada = { kind: 'human', id: 'ada' } as const;

async function open(dbPath: string, onGate: OnGate): Promise<Orchestrator> {
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    agents: fakeAgents(),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
    onGate,
  });
  onTestFinished(() => devs.close());
  return devs;
}

describe('onGate', () => {
  test('is told once of every gate a human has to decide, when it can be decided', async ({ dbPath }) => {
    const told: string[] = [];
    const devs = await open(dbPath, async (gate) => {
      told.push(gate.kind);
      await (await devs.run(gate.threadId)).decide(gate, { approved: true, by: ada });
    });
    const run = await devs.start({ id: 'shop', brief: '# Shop' });
    const { status } = await run.resume({ wait: true });
    expect({ status, told }).toEqual({ status: 'completed', told: ['design_approval', 'dag_approval'] });
  });

  test('is not told of gates that a policy decides', async ({ dbPath }) => {
    const told: string[] = [];
    const devs = await open(dbPath, ({ kind }) => void told.push(kind));
    const run = await devs.start({ id: 'shop', brief: '# Shop', gates: { design: 'auto' } });
    await run.resume();
    await run.resume();
    expect(told).toEqual(['dag_approval']);
  });

  test.for([
    [
      'throws',
      () => {
        throw new Error('no network');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('no network');
      },
    ],
  ] as const)('that %s is a warning, and the run waits all the same', async ([, onGate], { dbPath }) => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warned.mockRestore());
    const run = await (await open(dbPath, onGate)).start({ id: 'shop', brief: '# Shop' });
    const { status, gates } = await run.resume();
    expect({ status, kind: only(gates).kind }).toEqual({ status: 'waiting', kind: 'design_approval' });
    await expect
      .poll(() => warned)
      .toHaveBeenCalledWith(expect.stringContaining('no network'), 'DevsListenerWarning');
  });
});
