import type { ClosedGate, Gate, PipelineRunInfo, Run } from '@devs/core';
import { gateLabel } from './choices.ts';
import { askedTasks } from './inboxView.ts';

/** Something that took time. Times are milliseconds from the beginning of the timeline. */
export interface TimelineBar {
  /** `waiting`: for people. `begun`: it runs, or its process died in it. */
  readonly kind: 'done' | 'failed' | 'begun' | 'waiting';
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** From 1: how often it was begun. */
  readonly attempt: number;
}

export interface TimelineRow {
  /** Such as `T4`, or `run`. */
  readonly label: string;
  readonly name: string;
  readonly bars: readonly TimelineBar[];
}

export interface TimelineView {
  /** ISO 8601, UTC. */
  readonly from: string;
  /** Milliseconds. */
  readonly length: number;
  /** The run, then its tasks in the order of the plan; rows without a bar are left out. */
  readonly rows: readonly TimelineRow[];
}

export interface TimelineParts {
  readonly steps: Awaited<ReturnType<Run['steps']>>;
  readonly gates: readonly Gate[];
  readonly past: readonly ClosedGate[];
  readonly tasks: readonly PipelineRunInfo['tasks'][number][];
  /** Whether somebody drives the run: else what was begun and has not ended ends nowhere. */
  readonly isDriven: boolean;
}

interface TimelineSpan extends Omit<TimelineBar, 'start' | 'end'> {
  readonly row: string;
  /** Milliseconds since the Unix epoch. */
  readonly from: number;
  readonly to: number;
}

/** `null` before anything took time. @param now - Milliseconds since the Unix epoch. */
export function timelineView(parts: TimelineParts, now: number): TimelineView | null {
  const spans = [...parts.steps.map((step) => stepSpan(step, parts, now)), ...waits(parts, now)];
  if (spans.length === 0) return null;
  const from = spans.reduce((least, span) => Math.min(least, span.from), now);
  const to = spans.reduce((most, span) => Math.max(most, span.to), from);
  const rows = new Map<string, TimelineBar[]>();
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const bar = { ...{ kind: span.kind, name: span.name, attempt: span.attempt }, start: span.from - from };
    rows.set(span.row, [...(rows.get(span.row) ?? []), { ...bar, end: span.to - from }]);
  }
  const named = [{ label: 'run', name: '' }, ...parts.tasks.map(({ label, name }) => ({ label, name }))];
  return {
    from: new Date(from).toISOString(),
    length: to - from,
    rows: named.flatMap(({ label, name }) => {
      const bars = rows.get(label);
      return bars === undefined ? [] : [{ label, name, bars }];
    }),
  };
}

function stepSpan(
  step: Awaited<ReturnType<Run['steps']>>[number],
  { tasks, isDriven }: TimelineParts,
  now: number,
): TimelineSpan {
  const { name, task, state, attempt, startedAt, finishedAt } = step;
  const from = Date.parse(startedAt);
  const isRunning = state === 'begun' && isDriven;
  const to = finishedAt === null ? (isRunning ? now : from) : Date.parse(finishedAt);
  const isKnown = tasks.some(({ label }) => label === task);
  return {
    row: isKnown && task !== null ? task : 'run',
    kind: state,
    name,
    attempt,
    from,
    to: Math.max(from, to),
  };
}

/**
 * Each in the row of the last task that it asks about. One that was taken back without an answer has no end that is known;
 * what a policy answered waited for nobody.
 */
function waits({ gates, past, tasks }: TimelineParts, now: number): readonly TimelineSpan[] {
  const answered = past.flatMap((gate) =>
    gate.decidedAt === null || gate.principal?.startsWith('policy:')
      ? []
      : [{ ...gate, to: Date.parse(gate.decidedAt) }],
  );
  return [...answered, ...gates.map((gate) => ({ ...gate, to: now }))].map(({ to, ...gate }) => {
    const from = Date.parse(gate.openedAt);
    return {
      row: tasks.find(({ taskId }) => taskId === askedTasks(gate).at(-1))?.label ?? 'run',
      kind: 'waiting',
      name: gateLabel(gate.kind).name,
      attempt: 1,
      from,
      to: Math.max(from, to),
    };
  });
}
