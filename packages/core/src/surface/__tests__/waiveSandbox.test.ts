import path from 'node:path';
import { expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { Orchestrator } from '../Orchestrator.ts';

test('a sandbox is lifted by a human alone, and the log keeps their name', async ({ dbPath }) => {
  const devs = await Orchestrator.open({ dir: path.dirname(dbPath) });
  const run = await devs.start({ id: 'run', brief: '# Sum' });
  const logged = async () => (await run.log()).filter(({ name }) => name === 'SANDBOX_WAIVED');
  const refusal = (code: string) => expect.objectContaining({ code });

  await expect(run.skipSandboxOnce({ kind: 'agent', id: 'a' })).rejects.toThrow(
    refusal('AGENT_MAY_NOT_DECIDE'),
  );
  await expect(run.skipSandboxOnce({ kind: 'policy', id: 'p' })).rejects.toThrow(
    refusal('POLICY_NOT_DECLARED'),
  );
  expect(await logged()).toEqual([]);

  await run.skipSandboxOnce({ kind: 'human', id: 'ada' });
  expect(await logged()).toMatchObject([{ payload: { principal: 'human:ada' } }]);
  devs.close();
});
