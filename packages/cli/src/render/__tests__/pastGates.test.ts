import { describe, expect, it } from 'vitest';
import { type PastGate, pastGateLine, toldDecisions } from '../renderClosedGate.ts';

const gate = {
  sessionId: '3f2a91c0-0000-4000-8000-000000000000',
  threadId: 'csv',
  kind: 'budget',
  taskId: 'csv',
  artifactHash: '9b74'.repeat(16),
  message: 'Read it.',
  artifact: {},
  openedAt: '2026-01-02T03:04:05.000Z',
} as const;

const became = (
  status: PastGate['gate']['status'],
  principal: string | null,
  told: PastGate['told'] = null,
) => pastGateLine({ gate: { ...gate, status, principal }, told }).at(-1);

const raised = {
  sessionId: gate.sessionId,
  kind: 'budget',
  principal: 'human:ada',
  said: 'raise',
  raised: { usd: 5 },
};

describe('what became of a gate', () => {
  it('is told by the log, or by who decided where the log has nothing', () => {
    expect(became('resumed', 'human:ada', raised)).toBe('raised by $5, by human:ada');
    expect(became('decided', 'human:ada')).toBe('decided, by human:ada');
    expect(became('resumed', null)).toBe('none: the run continued without a decision');
    expect(became('cancelled', null)).toBe('withdrawn: the run has ended');
    expect(became('superseded', null)).toBe('withdrawn: asked again, or the run was rewound');
    expect(became('superseded', 'human:ada', raised)).toBe(
      'raised by $5, by human:ada; withdrawn: asked again, or the run was rewound',
    );
    expect(became('awaiting_approval', null)).toBe('open');
  });

  it('is found among the pages of a log', async () => {
    const entry = { seq: 1, at: gate.openedAt, taskId: null };
    async function* pages() {
      yield [{ ...entry, name: 'NODE_STARTED', payload: {} }] as const;
      yield [{ ...entry, name: 'HITL_SESSION_DECIDED', payload: raised }] as const;
    }
    expect([...(await toldDecisions(pages()))]).toEqual([[gate.sessionId, raised]]);
  });
});
