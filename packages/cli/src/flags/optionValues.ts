// The values of options, as a command line writes them.
import { usageError } from '../usageError.ts';

/** An amount of money, tokens or calls on a command line. */
export function toAmount(text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  throw usageError(`"${text}" is not a valid amount.`, 'Use a number above 0, such as 2.5.');
}

/** A number of things on a command line. */
export function toCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usageError(`"${text}" is not a number of places.`, 'Use a whole number, such as 2.');
}

/** Milliseconds of one unit. */
const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A length of time on a command line, in milliseconds: `90s`, `30m`, `1.5h`, `30d`. */
export function toMilliseconds(text: string): number {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text.trim()) ?? [];
  const ms = Math.round(Number(digits) * (UNITS[unit] ?? Number.NaN));
  if (Number.isFinite(ms) && ms > 0) return ms;
  throw usageError(`"${text}" is not a valid duration.`, 'Use a number with a unit: 90s, 30m, 1.5h or 30d.');
}

/** Collects the values of an option that may be given more than once. */
export function collectValues(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** @param name - Of the option, for the message. */
export function toNumber(name: string, text: string, least: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least) return number;
  throw usageError(`${name} "${text}" is invalid.`, `Use a whole number from ${least}.`);
}
