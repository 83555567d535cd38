import { fakeAgents } from '@devs/core/testing';
import { expect, test, vi } from 'vitest';
import { agentsPerStage } from '../agentsPerStage.ts';

const call = { idempotencyKey: 'k', signal: new AbortController().signal, usage: () => undefined };

test('a stage is done by whom it was given to, the others by the first', async () => {
  const silent = { name: 'guest', tokens: false, cost: false };
  const base = { ...fakeAgents({ tasks: 1 }), name: 'base', fingerprint: 'v1', pivot: vi.fn() };
  const guest = {
    ...fakeAgents({ tasks: 1 }),
    name: 'guest',
    provenance: 'live' as const,
    design: vi.fn(),
    reports: [silent],
  };
  const agents = agentsPerStage(base, { design: guest, pivot: guest });
  expect(agents.reports).toEqual([silent]);
  await agents.design({ brief: '# B', attempt: 1, documents: [], feedback: null }, call);
  await agents.research({ brief: '# B', attempt: 1 }, call);
  expect(guest.design).toHaveBeenCalledOnce();
  expect(agents).toMatchObject({ name: 'base + guest', provenance: 'live', fingerprint: 'v1' });
});
