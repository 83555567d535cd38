import type { Run } from '@devs/core';
import { columns, type Line, styled } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';

type RunSpan = Awaited<ReturnType<Run['trace']>>[number];

/** The spans of a run as a tree, a line each: its duration, its name, and how it ended. */
export function traceLines(spans: readonly RunSpan[]): readonly Line[] {
  const children = new Map<string | null, RunSpan[]>();
  for (const span of spans) {
    const siblings = children.get(span.parentId) ?? [];
    children.set(span.parentId, siblings);
    siblings.push(span);
  }
  const told: { readonly span: RunSpan; readonly depth: number }[] = [];
  const tell = (parent: string | null, depth: number): void => {
    const siblings = (children.get(parent) ?? []).toSorted((a, b) => a.startedAt - b.startedAt);
    for (const span of siblings) {
      told.push({ span, depth });
      tell(span.spanId, depth + 1);
    }
  };
  tell(null, 0);
  const rows = told.map(({ span, depth }) => [
    ...[timeText(span.startedAt), spanDuration(span)],
    `${'  '.repeat(depth)}${oneLine(span.name)}${endText(span)}`,
  ]);
  // A cell loses the spaces at its start.
  const names = rows.map(([, , name = '']) => name);
  return columns(rows.map(([time = '', length = '']) => [time, length])).map((text, at) => {
    const span = told[at]?.span;
    return styled(
      span === undefined ? undefined : styleOf(span),
      `${text.padEnd(WIDTH)}  ${names[at] ?? ''}`,
    );
  });
}

/** Of a time and a duration. */
const WIDTH = 29;

const timeText = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`;

function styleOf({ error, isOpen }: RunSpan): 'bad' | 'due' | undefined {
  if (error !== null) return 'bad';
  return isOpen ? 'due' : undefined;
}

function endText({ attributes, error, isOpen, events }: RunSpan): string {
  const decision = attributes['devs.gate.decision'];
  const decider = attributes['devs.gate.decider'];
  const facts = [
    ...(isOpen ? ['open'] : []),
    ...(error === null ? [] : [oneLine(error)]),
    ...(decision === undefined
      ? []
      : [`${String(decision)}${decider === undefined ? '' : ` by ${String(decider)}`}`]),
    ...events.map(({ name }) => name.replace(/^devs\./, '').replaceAll(/[._]/g, ' ')),
  ];
  return facts.length === 0 ? '' : ` (${facts.map((fact) => oneLine(fact)).join(', ')})`;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

function spanDuration({ startedAt, endedAt }: RunSpan): string {
  const ms = endedAt - startedAt;
  if (ms >= DAY_MS) return `${(ms / DAY_MS).toFixed(1)}d`;
  if (ms >= HOUR_MS) return `${(ms / HOUR_MS).toFixed(1)}h`;
  if (ms >= MINUTE_MS) return `${(ms / MINUTE_MS).toFixed(1)}m`;
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)}s` : `${ms}ms`;
}
