import type { ClosedGate, Gate, LogEntry, OrchestratorEvents } from '@devs/core';
import type { GateComment, ShownGate } from '@devs/core/internal';
import { GATE_LABELS } from '../gates/gateLabels.ts';
import type { Line } from '../terminal/Line.ts';
import { commentLines } from './gateTalk.ts';
import { artifactLines } from './renderArtifact.ts';
import { gateLine, shortHash, shortId } from './renderGate.ts';
import { formatDecision, formatVia } from './sentence.ts';

/** A gate of the past: what was shown, and what became of it. */
export function renderClosedGate(gate: ShownGate<ClosedGate>, talk: readonly Line[]): readonly Line[] {
  return [
    { style: 'bold', text: `Gate ${shortId(gate)}: ${GATE_LABELS[gate.kind].name} of ${gate.threadId}` },
    `opened ${gate.openedAt}, hash ${shortHash(gate)}`,
    { style: 'markdown', text: gate.message },
    '',
    ...artifactLines(gate.artifact),
    ...talk,
    { style: 'bold', text: formatGateEnd(gate) },
    ...closedDecisionLines(gate.decision),
    ...formatHidden(gate),
  ];
}

/** What was said, member by member: a text as it is, anything else as JSON. */
function closedDecisionLines(decision: unknown): readonly string[] {
  const { comments = [], ...members } = (decision ?? {}) as DecisionJson;
  const lines = Object.entries(members).map(
    ([name, value]) => `  ${name}: ${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}`,
  );
  return [...lines, ...commentLines(comments)];
}

/** What the decider did not see, by what was recorded. */
function formatHidden({ hidden }: ClosedGate): readonly string[] {
  if (hidden === undefined) return [];
  const { count, revealed } = hidden;
  const read = revealed.length === 0 ? 'none read' : `read: ${revealed.join(', ')}`;
  return [`  hidden: ${count === 1 ? '1 place' : `${count} places`}, ${read}`];
}

type DecisionJson = { readonly comments?: readonly GateComment[] } & Readonly<Record<string, unknown>>;

function formatGateEnd({ status, principal, decidedAt, via }: ClosedGate): string {
  const by = principal === null ? null : `Decided by ${principal}${formatVia(via)} at ${decidedAt}`;
  switch (status) {
    case 'decided':
      return `${by}; the run has not applied it yet:`;
    case 'resumed':
      return by === null ? 'Continued without a decision.' : `${by}:`;
    case 'superseded':
      return `${by === null ? 'Withdrawn' : `${by}, then withdrawn`}: the gate was asked again, or the run was rewound.`;
    case 'cancelled':
      return by === null ? 'Withdrawn: the run has ended.' : `${by}; the run has ended:`;
  }
}

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
