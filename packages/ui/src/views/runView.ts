import type { ClosedGate, LogEntry, RunStatus } from '@devs/core';
import type { ReadableRun } from '../state/RunsFile.ts';
import { wordsOf } from './choices.ts';
import { type GateLine, gateLine } from './inboxView.ts';

/** Of a log that may have many thousands: a person reads its end. */
const NEWEST_ENTRIES = 500;

export interface PastGate extends GateLine, Pick<ClosedGate, 'status' | 'principal' | 'decidedAt'> {
  /** Such as `approved`; `null` where nobody decided. */
  readonly said: string | null;
}

export interface RunView extends Omit<RunStatus, 'gates'> {
  readonly gates: readonly GateLine[];
  /** Oldest first. */
  readonly past: readonly PastGate[];
  /** The newest, oldest first. */
  readonly log: readonly LogEntry[];
  /** Entries before those. */
  readonly earlier: number;
}

/** Everything about a run but what its gates show. */
export async function runView(run: ReadableRun): Promise<RunView> {
  const { gates, ...status } = await run.status();
  const log = await run.log();
  return {
    ...status,
    gates: gates.map(gateLine),
    past: (await run.closedGates()).map(pastGate),
    log: log.slice(-NEWEST_ENTRIES),
    earlier: Math.max(0, log.length - NEWEST_ENTRIES),
  };
}

function pastGate(gate: ClosedGate): PastGate {
  const { status, principal, decidedAt } = gate;
  return { ...gateLine(gate), status, principal, decidedAt, said: said(gate) };
}

function said({ kind, decision }: ClosedGate): string | null {
  if (typeof decision !== 'object' || decision === null) return null;
  const { approved, action } = decision as { readonly approved?: unknown; readonly action?: unknown };
  if (typeof action === 'string') {
    return wordsOf(kind).choices.find(({ name }) => name === action)?.label ?? action;
  }
  return approved === undefined ? 'answered' : approved === true ? 'approved' : 'sent back';
}
