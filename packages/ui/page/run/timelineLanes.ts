import type { TimelineBar, TimelineRow, TimelineView } from '../../src/views/timelineView.ts';
import { formatDuration } from '../words.ts';

/** Width of a lane: bars are in thousandths of it. */
export const LANE = 1_000;
/** A bar of this width has room for a word: 48 px of a lane of 600. */
const ROOMY = 80;
/** So that what took no time can be seen. */
const THINNEST = 2;

/** Stages of the pipeline. */
export const STAGES = ['think', 'test', 'code', 'check', 'document'] as const;

export type Stage = (typeof STAGES)[number];

const STEPS: Readonly<Record<Stage, readonly string[]>> = {
  think: ['look', 'research', 'design', 'distill', 'review', 'pivot'],
  test: ['test'],
  code: ['implement'],
  check: [
    ...['baseline', 'before', 'red', 'green', 'without', 'command', 'verify', 'evidence', 'losses'],
    ...['changes', 'base', 'integrated', 'instructions', 'message', 'commit', 'sync'],
  ],
  document: ['document', 'documents'],
};

/** A step that is repeated has a number behind its word. `null` of a step of another graph. */
const stageOf = (name: string): Stage | null =>
  STAGES.find((stage) => STEPS[stage].includes(/^[a-z]+/i.exec(name)?.[0] ?? '')) ?? null;

export interface LaneBar {
  readonly x: number;
  readonly width: number;
  readonly kind: TimelineBar['kind'];
  /** `null` of a wait for people, and of a step of one's own graph. */
  readonly stage: Stage | null;
  /** Inside the bar; empty if the bar is too short. */
  readonly label: string;
  /** In words, as the title of the bar. */
  readonly title: string;
  /** Begun more than once. */
  readonly isRetry: boolean;
}

export interface Lane {
  readonly label: string;
  readonly name: string;
  readonly bars: readonly LaneBar[];
  /** The same in words, one per bar. */
  readonly words: readonly string[];
}

export interface Lanes {
  readonly lanes: readonly Lane[];
  /** Where time without work was cut out, in the width of a lane. */
  readonly cuts: readonly number[];
  /** For the legend. */
  readonly kinds: readonly (Stage | 'failed' | 'waiting')[];
}

/** A timeline as shapes. Pure. */
export function timelineLanes({ rows, length }: TimelineView): Lanes {
  const work = rows.flatMap(({ bars }) => bars.filter(({ kind }) => kind !== 'waiting'));
  const axis = timelineAxis(work, length);
  const lanes = rows.map((row) => laneOf(row, (ms) => axis.at(ms) * LANE));
  return { lanes, cuts: axis.cuts.map((cut) => cut * LANE), kinds: kindsIn(lanes) };
}

function kindsIn(lanes: readonly Lane[]): Lanes['kinds'] {
  const bars = lanes.flatMap((lane) => lane.bars);
  const drawn = new Set(
    bars.map(({ kind, stage }) => (kind === 'failed' || kind === 'waiting' ? kind : stage)),
  );
  return ([...STAGES, 'failed', 'waiting'] as const).filter((kind) => drawn.has(kind));
}

function laneOf({ label, name, bars }: TimelineRow, at: (ms: number) => number): Lane {
  return {
    ...{ label, name },
    bars: bars.map((bar) => {
      const width = Math.max(THINNEST, at(bar.end) - at(bar.start));
      const x = Math.min(at(bar.start), LANE - width);
      return { x: roundToTenth(x), width: roundToTenth(width), ...inWords(bar, width) };
    }),
    words: bars.map(formatBar),
  };
}

function inWords(bar: TimelineBar, width: number): Omit<LaneBar, 'x' | 'width'> {
  const { kind, name, start, end, attempt } = bar;
  const stage = kind === 'waiting' ? null : stageOf(name);
  const label = kind === 'waiting' ? formatDuration(end - start) : (stage ?? name);
  return {
    ...{ kind, stage, isRetry: attempt > 1, title: formatBar(bar) },
    label: width < ROOMY ? '' : label,
  };
}

const KINDS = { done: '', failed: ', failed', begun: ', not ended', waiting: ', waiting' } as const;

function formatBar({ kind, name, start, end, attempt }: TimelineBar): string {
  const again = attempt > 1 ? `, attempt ${attempt}` : '';
  return `${name}${KINDS[kind]}${again}: ${formatDuration(end - start)}, from ${formatDuration(start)}`;
}

const roundToTenth = (value: number): number => Math.round(value * 10) / 10;

/** A time from `start` to `end`, in milliseconds. */
interface Interval {
  readonly start: number;
  readonly end: number;
}

/** Where a time stands, from 0 to 1; times without work are made short. */
interface TimelineAxis {
  at(ms: number): number;
  /** Where time was cut out, from 0 to 1. */
  readonly cuts: readonly number[];
}

/** Of all work together: a night without work takes as little room. */
const LONGEST_GAP = 0.05;

/**
 * The axis of a timeline over `[0, length]`: what was worked on keeps its proportions, and longer times in between are cut to
 * the same short one. Never goes backwards.
 *
 * @param work - In any order; it may overlap.
 */
export function timelineAxis(work: readonly Interval[], length: number): TimelineAxis {
  const pieces = axisPieces(work, length);
  const worked = pieces.reduce((sum, { isWork, start, end }) => sum + (isWork ? end - start : 0), 0);
  const most = worked === 0 ? Number.POSITIVE_INFINITY : worked * LONGEST_GAP;
  let total = 0;
  const placed = pieces.map((piece) => {
    const span = piece.end - piece.start;
    const drawn = piece.isWork ? span : Math.min(span, most);
    const from = total;
    total += drawn;
    return { ...piece, from, drawn, isCut: drawn < span };
  });
  const share = (drawn: number): number => (total === 0 ? 0 : drawn / total);
  return {
    at(ms) {
      const piece = placed[firstEndingFrom(ms, placed)] ?? placed.at(-1);
      if (piece === undefined) return 0;
      const { start, end, from, drawn } = piece;
      const inside = end === start ? 0 : Math.min(1, Math.max(0, (ms - start) / (end - start)));
      return share(from + drawn * inside);
    },
    cuts: placed.filter(({ isCut }) => isCut).map(({ from, drawn }) => share(from + drawn / 2)),
  };
}

/** The place of the first piece that ends then or later; they are in order, and there may be thousands. */
function firstEndingFrom(ms: number, pieces: readonly Interval[]): number {
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.end ?? 0) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface AxisPiece extends Interval {
  readonly isWork: boolean;
}

/** `[0, length]` in times with work and times without, in order. */
function axisPieces(work: readonly Interval[], length: number): readonly AxisPiece[] {
  const pieces: AxisPiece[] = [];
  let until = 0;
  const sorted = work.filter(({ start, end }) => end > start).toSorted((a, b) => a.start - b.start);
  for (const { start, end } of sorted) {
    if (end <= until) continue;
    if (start > until) pieces.push({ isWork: false, start: until, end: start });
    pieces.push({ isWork: true, start: Math.max(start, until), end });
    until = end;
  }
  if (length > until) pieces.push({ isWork: false, start: until, end: length });
  return pieces;
}
