import path from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { Orchestrator } from '../../surface/Orchestrator.ts';
import type { Run } from '../../surface/Run.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import type { StageAgents } from '../ports.ts';

interface Provider {
  /** Statuses of the next requests; answered when there are none left. */
  readonly refusals: number[];
  asked: number;
  /** Of its errors. */
  readonly context?: Readonly<Record<string, string | number>>;
}

/** Agents whose implementation asks a provider. */
function agentsOf(provider: Provider): StageAgents {
  const agents = fakeAgents({ tasks: 1 });
  return {
    ...agents,
    implement: async (request, call) => {
      provider.asked += 1;
      const status = provider.refusals.shift();
      if (status === undefined) return agents.implement(request, call);
      throw new DevsError('The call failed.', {
        code: 'AGENT_FAILED',
        remedy: 'Repair it.',
        ...(provider.context && { context: provider.context }),
        cause: Object.assign(new Error('refused'), { status }),
      });
    },
  };
}

async function startOn(
  dbPath: string,
  provider: Provider,
  now: () => number = Date.now,
): Promise<{ devs: Orchestrator; run: Run }> {
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    agents: agentsOf(provider),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
    now,
  });
  const gates = { design: 'auto', dag: 'auto' } as const;
  return { devs, run: await devs.start({ id: 'sum', brief: '# Sum\n\nAdd.\n', gates }) };
}

describe('an agent out of reach', () => {
  test.for([
    ['refuses for good', [401], 1],
    ['fails through all retries', [503, 503, 503], 3],
  ] as const)(
    'that %s stops the drive, and the run goes on where it was',
    async ([, refusals, asked], { dbPath }) => {
      const provider: Provider = { refusals: [...refusals], asked: 0 };
      const { devs, run } = await startOn(dbPath, provider);

      await expect(run.resume()).rejects.toMatchObject({ code: 'AGENT_FAILED' });
      expect(provider.asked).toBe(asked);
      expect((await run.state())?.errorHistory).toEqual([]);
      expect((await run.log()).map(({ name }) => name)).toContain('NODE_FAILED');
      const listed = async () => (await devs.list()).map(({ status, reason }) => ({ status, reason }));
      expect(await listed()).toEqual([{ status: 'running', reason: 'AGENT_FAILED: The call failed.' }]);

      expect(await run.resume()).toMatchObject({ status: 'completed' });
      expect(await listed()).toEqual([{ status: 'completed', reason: null }]);
      expect(provider.asked).toBe(asked + 1);
      devs.close();
    },
  );

  test('that has waited for its provider is not retried', async ({ dbPath }) => {
    const provider: Provider = { refusals: [429, 429], asked: 0, context: { waitedMs: 1_800_000 } };
    const { devs, run } = await startOn(dbPath, provider);
    await expect(run.resume()).rejects.toMatchObject({ code: 'AGENT_FAILED' });
    expect(provider.asked).toBe(1);
    devs.close();
  });

  test('whose provider names the hour is asked again then: until it the run waits, and is due for a worker', async ({
    dbPath,
  }) => {
    const clock = { now: Date.UTC(2026, 2, 2, 14, 30) };
    const retryAt = new Date(clock.now + 5 * 3_600_000).toISOString();
    const provider: Provider = { refusals: [429], asked: 0, context: { waitedMs: 0, retryAt } };
    const { devs, run } = await startOn(dbPath, provider, () => clock.now);
    expect(await run.resume()).toMatchObject({ status: 'waiting', gates: [], until: Date.parse(retryAt) });
    expect(await run.resume()).toMatchObject({ status: 'waiting' });
    expect(provider.asked).toBe(1);

    clock.now += 5 * 3_600_000;
    expect(await run.resume()).toMatchObject({ status: 'completed' });
    expect(provider.asked).toBe(2);
    expect((await run.state())?.taskAttempts).toBe(1);
    devs.close();
  });

  test('whose provider names an hour that has passed, again, is out of reach', async ({ dbPath }) => {
    const clock = { now: Date.UTC(2026, 2, 2, 14, 30) };
    const retryAt = new Date(clock.now + 60_000).toISOString();
    const provider: Provider = { refusals: [429, 429], asked: 0, context: { waitedMs: 0, retryAt } };
    const { devs, run } = await startOn(dbPath, provider, () => clock.now);
    expect(await run.resume()).toMatchObject({ status: 'waiting' });
    clock.now += 120_000;
    await expect(run.resume()).rejects.toMatchObject({ code: 'AGENT_FAILED' });
    devs.close();
  });

  test('that comes back while it is retried is no news', async ({ dbPath }) => {
    const provider: Provider = { refusals: [429], asked: 0 };
    const { devs, run } = await startOn(dbPath, provider);

    expect(await run.resume()).toMatchObject({ status: 'completed' });
    expect(provider.asked).toBe(2);
    devs.close();
  });
});
