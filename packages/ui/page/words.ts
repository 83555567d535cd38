import type { Sum } from '../src/views/choices.ts';

/** `2026-11-23 06:30`, in the person's own time. */
export function formatTime(iso: string): string {
  const at = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** `13:50:22`, in the person's own time. */
export const formatClock = (iso: string): string => new Date(iso).toTimeString().slice(0, 8);

const STEPS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const;

/** How long ago: `3 h`. */
export function formatAgo(iso: string, now: number = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000);
  const step = STEPS.find(([size]) => seconds >= size);
  return step === undefined ? 'now' : `${Math.floor(seconds / step[0])} ${step[1]}`;
}

/** `3 h ago`, `just now`. */
export function formatSince(iso: string, now: number = Date.now()): string {
  const ago = formatAgo(iso, now);
  return ago === 'now' ? 'just now' : `${ago} ago`;
}

/** Below one cent with three digits: little is not nothing. */
export const formatDollars = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.01 ? 3 : 2)}`;

/** What is not known is never shown as nothing: empty without a recorded call, as the graph may have made others. */
export function formatCost({
  costUsd,
  unpriced,
  calls,
}: Readonly<Record<'costUsd' | 'unpriced' | 'calls', number>>): string {
  if (costUsd > 0) return formatDollars(costUsd);
  if (unpriced > 0) return 'no price known';
  return calls === 0 ? '' : formatDollars(0);
}

export const shortHash = (hash: string): string => hash.slice(0, 8);

/** `T4`, as people count tasks. */
export const taskTag = (taskId: string): string => {
  const number = /:(\d+)$/.exec(taskId)?.[1];
  return number === undefined ? taskId : `T${number}`;
};

/** `design_approval` as words. */
export const humanizeName = (name: string): string => name.toLowerCase().replaceAll('_', ' ');

/** `2 d 3 h`, `4 min 7 s`, `12 s`, `80 ms`: its two largest parts. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = Math.floor(ms / 1_000);
  const [size = 1, name = 's'] = STEPS.find(([each]) => seconds >= each) ?? [];
  if (size === 1) return `${seconds} s`;
  const below = STEPS[STEPS.findIndex(([each]) => each === size) + 1] ?? ([1, 's'] as const);
  const rest = Math.floor((seconds % size) / below[0]);
  const whole = `${Math.floor(seconds / size)} ${name}`;
  return rest === 0 ? whole : `${whole} ${rest} ${below[1]}`;
}

/** `1,234,567`, the same in every language. */
export const formatCount = (count: number): string => count.toLocaleString('en-US');

/** A measure of budgets on the page. */
interface MeasureOnPage {
  /** Above the field in which an amount is entered. */
  readonly field: string;
  /** How much 1 in that field is. */
  readonly perOne: number;
  readonly format: (amount: number) => string;
}

const counted = (unit: string): MeasureOnPage => ({
  field: unit,
  perOne: 1,
  format: (amount) => `${formatCount(amount)} ${unit}`,
});

export const MEASURES: Readonly<Record<Sum['measure'], MeasureOnPage>> = {
  usd: { field: 'US dollars', perOne: 1, format: formatDollars },
  tokens: counted('tokens'),
  calls: counted('requests'),
  ms: { field: 'minutes of active time', perOne: 60_000, format: formatDuration },
};

/** An amount of a measure of budgets: `$1.20`, `4 min 7 s`, `1,200 tokens`. */
export const formatMeasure = (measure: Sum['measure'], amount: number): string =>
  MEASURES[measure].format(amount);

export const formatCommentCount = (count: number): string =>
  count === 1 ? '1 comment' : `${count} comments`;

/** Of what has no name, all of it is meant. */
export const formatPlaceName = (place: string): string => (place === '' ? 'the gate' : place);

/** `1 task`, `3 tasks`. @param many - Where it is more than an `s`. */
export const formatNumbered = (
  count: number,
  noun: string,
  many = noun.endsWith('s') ? `${noun}es` : `${noun}s`,
): string => `${formatCount(count)} ${count === 1 ? noun : many}`;
