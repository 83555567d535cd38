/** Places values of an axis between two points of the sheet. */
export interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

export type ScaleKind = 'linear' | 'log';

interface Span {
  readonly kind: ScaleKind;
  readonly values: readonly number[];
  /** Where the axis begins and ends on the sheet. */
  readonly from: number;
  readonly to: number;
  /** The axis ends at its outermost values instead of at a round number, and these are its ticks. */
  readonly isTight?: boolean;
}

const TICKS = 5;
const STEPS = [1, 2, 5, 10] as const;

/** @throws RangeError for no value, one that is no number, and one below what the axis can have. */
export function scaleOf({ kind, values, from, to, isTight = false }: Span): Scale {
  const least = kind === 'log' ? Number.MIN_VALUE : 0;
  const wrong = values.find((value) => !(value >= least && value < Number.POSITIVE_INFINITY));
  if (values.length === 0 || wrong !== undefined)
    throw new RangeError(`Expected values for a ${kind} axis, got ${wrong ?? 'none'}.`);
  const ticks = isTight ? [...new Set(values)].toSorted((a, b) => a - b) : roundTicks(kind, values);
  const size = kind === 'log' ? Math.log10 : (value: number): number => value;
  const [low, high] = [size(ticks[0] ?? 0), size(ticks.at(-1) ?? 1)];
  const width = high - low || 1;
  return { ticks, at: (value) => from + ((size(value) - low) / width) * (to - from) };
}

/** The first is no larger than any value and the last no smaller. */
function roundTicks(kind: ScaleKind, values: readonly number[]): readonly number[] {
  const most = Math.max(...values);
  if (kind === 'linear') {
    const step = roundStep((most || 1) / TICKS);
    return Array.from({ length: Math.ceil((most || 1) / step - 1e-9) + 1 }, (_, at) => at * step);
  }
  const first = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(most) - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
}

/** The next 1, 2 or 5 times a power of ten. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  return power * (STEPS.find((each) => each * power >= step * (1 - 1e-9)) ?? 1);
}
