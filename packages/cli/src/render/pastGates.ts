import type { ClosedGate, Gate, LogEntry, OrchestratorEvents } from '@devs/core';
import { gateLine } from './renderGate.ts';
import { formatDecision } from './sentence.ts';

type PastDecision = OrchestratorEvents['HITL_SESSION_DECIDED'];

/** A gate, closed or not, and what the log tells of its decision. */
export interface PastGate {
  readonly gate: Gate & {
    readonly status: ClosedGate['status'] | 'awaiting_approval';
    readonly principal: string | null;
  };
  readonly told: PastDecision | null;
}

/** The decisions that the pages of a log tell of, by the id of their gate. */
export async function toldDecisions(
  log: AsyncIterable<readonly LogEntry[]>,
): Promise<ReadonlyMap<string, PastDecision>> {
  const decisions = new Map<string, PastDecision>();
  for await (const page of log) {
    const told = page.filter(({ name }) => name === 'HITL_SESSION_DECIDED');
    for (const { payload } of told)
      decisions.set((payload as PastDecision).sessionId, payload as PastDecision);
  }
  return decisions;
}

/** A gate in one line, with what became of it. */
export const pastGateLine = (past: PastGate): readonly string[] => [
  ...gateLine(past.gate),
  formatGateStatus(past),
];

/** `rejected, by human:ada: too many tables`; a decision that came to nothing says so. */
function formatGateStatus({ gate: { status, principal }, told }: PastGate): string {
  const decided =
    told === null ? (principal === null ? null : `decided, by ${principal}`) : formatDecision(told);
  switch (status) {
    case 'awaiting_approval':
      return 'open';
    case 'decided':
    case 'resumed':
      return decided ?? 'none: the run continued without a decision';
    case 'superseded':
      return `${decided === null ? '' : `${decided}; `}withdrawn: asked again, or the run was rewound`;
    case 'cancelled':
      return decided ?? 'withdrawn: the run has ended';
  }
}
