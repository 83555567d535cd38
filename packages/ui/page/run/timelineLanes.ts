import type { TimelineBar, TimelineRow, TimelineView } from '../../src/views/timelineView.ts';
import { formatDuration } from '../words.ts';
import { timelineAxis } from './timelineAxis.ts';

/** Width of a lane; its bars are stretched with it. */
export const LANE = 1_000;
/** So that what took no time can be seen. */
const THINNEST = 2;

export interface LaneBar {
  readonly x: number;
  readonly width: number;
  readonly kind: TimelineBar['kind'];
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
}

/** A timeline as shapes. Pure. */
export function timelineLanes({ rows, length }: TimelineView): Lanes {
  const work = rows.flatMap(({ bars }) => bars.filter(({ kind }) => kind !== 'waiting'));
  const axis = timelineAxis(work, length);
  return {
    lanes: rows.map((row) => laneOf(row, (ms) => axis.at(ms) * LANE)),
    cuts: axis.cuts.map((cut) => cut * LANE),
  };
}

function laneOf({ label, name, bars }: TimelineRow, at: (ms: number) => number): Lane {
  return {
    ...{ label, name },
    bars: bars.map(({ kind, start, end, attempt }) => {
      const width = Math.max(THINNEST, at(end) - at(start));
      const x = Math.min(at(start), LANE - width);
      return { x: roundToTenth(x), width: roundToTenth(width), kind, isRetry: attempt > 1 };
    }),
    words: bars.map(formatBar),
  };
}

const KINDS = { done: '', failed: ', failed', begun: ', not ended', waiting: ', waiting' } as const;

function formatBar({ kind, name, start, end, attempt }: TimelineBar): string {
  const again = attempt > 1 ? `, attempt ${attempt}` : '';
  return `${name}${KINDS[kind]}${again}: ${formatDuration(end - start)}, from ${formatDuration(start)}`;
}

const roundToTenth = (value: number): number => Math.round(value * 10) / 10;
