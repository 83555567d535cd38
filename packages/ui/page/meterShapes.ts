import type { Meter } from '../src/views/evidenceView.ts';
import { formatCount, formatMeasure } from './words.ts';

export interface MeterShapes {
  /** One after the other, from 0 to 1,000. */
  readonly bars: readonly {
    readonly kind: 'level' | 'reserved' | 'next';
    readonly x: number;
    readonly width: number;
  }[];
  /** `null` where there is no limit. */
  readonly limitAt: number | null;
  readonly words: string;
}

const WIDTH = 1_000;
/** What is seen beyond a limit, of the limit. */
const BEYOND = 1.1;

/** What was used, what is held back and what the next call would take, against the limit. Pure. */
export function meterShapes({ level, limit, reserved, next, unit }: Meter): MeterShapes {
  const used = level + reserved + next;
  // A score is one of 1, whatever its limit is.
  const whole = unit === 'score' ? 1 : Math.max(used, (limit ?? used) * BEYOND, Number.MIN_VALUE);
  const widthOf = (amount: number): number => Math.round((Math.min(amount, whole) / whole) * WIDTH);
  const amounts = [
    { kind: 'level', amount: level },
    { kind: 'reserved', amount: reserved },
    { kind: 'next', amount: next },
  ] as const;
  let x = 0;
  const bars = amounts.map(({ kind, amount }) => {
    const bar = { kind, x, width: widthOf(amount) };
    x += bar.width;
    return bar;
  });
  return {
    bars: bars.filter(({ width }) => width > 0),
    limitAt: limit === null ? null : widthOf(limit),
    words: formatMeter({ level, limit, reserved, next, unit }),
  };
}

function formatMeter({ level, limit, reserved, next, unit }: Omit<Meter, 'name'>): string {
  const amount = (value: number): string =>
    unit === 'score' ? value.toFixed(2) : unit === 'count' ? formatCount(value) : formatMeasure(unit, value);
  const of = unit === 'score' ? '1' : limit === null ? null : amount(limit);
  return [
    of === null ? amount(level) : `${amount(level)} of ${of}`,
    ...(reserved > 0 ? [`${amount(reserved)} reserved`] : []),
    ...(next > 0 ? [`the next call ${amount(next)}`] : []),
  ].join(', ');
}
