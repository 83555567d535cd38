import type { ClosedGate, PipelineRunInfo } from '@devs/core';
import type { ReadableRun } from '../state/RunsPlace.ts';
import { gateLabel } from './choices.ts';
import { type GateLine, inboxGateLine } from './inboxView.ts';
import { type PlannedTask, planView } from './planView.ts';
import { type SpendingView, spendingView } from './spendingView.ts';

export interface PastGateLine extends GateLine, Pick<ClosedGate, 'status' | 'principal' | 'decidedAt'> {
  /** Such as `approved`; `null` where nobody decided. */
  readonly said: string | null;
}

/** Everything about a run but what its gates show, its timeline, its log and its checkpoints. */
export interface RunView extends Omit<PipelineRunInfo, 'gates' | 'tasks'> {
  readonly tasks: readonly PlannedTask[];
  readonly gates: readonly GateLine[];
  /** Oldest first. */
  readonly past: readonly PastGateLine[];
  readonly spending: SpendingView;
}

export async function runView(run: ReadableRun): Promise<RunView> {
  const { gates, tasks, ...status } = await run.status();
  return {
    ...status,
    tasks: planView(tasks, await run.state()),
    gates: gates.map(inboxGateLine),
    past: (await run.closedGates()).map(pastGate),
    spending: spendingView(await run.steps()),
  };
}

function pastGate(gate: ClosedGate): PastGateLine {
  const { status, principal, decidedAt } = gate;
  return { ...inboxGateLine(gate), status, principal, decidedAt, said: decisionFeedback(gate) };
}

function decisionFeedback({ kind, decision }: ClosedGate): string | null {
  if (typeof decision !== 'object' || decision === null) return null;
  const { approved, action } = decision as { readonly approved?: unknown; readonly action?: unknown };
  if (typeof action === 'string') {
    return gateLabel(kind).choices.find(({ name }) => name === action)?.label ?? action;
  }
  return approved === undefined ? 'answered' : approved === true ? 'approved' : 'rejected';
}
