// What is read off the account of the world outside.

/** One line of the account. */
export interface Entry {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** Which life of the worker wrote it, from 1; 0 for everybody else. */
  readonly life: number;
  readonly what: string;
  /** The process that wrote it. */
  readonly pid: number;
  /** Milliseconds of the processor that it had taken. */
  readonly cpuMs: number;
}

/** What random kills of a worker cost. */
export interface Repeats {
  /** One number of calls paid again for each life but the first. */
  readonly perKill: readonly number[];
  /** Those of them whose result an earlier life is known to have had on record. */
  readonly recordedAgain: number;
}

/** The entries in the order in which they happened. */
export function parseAccount(text: string): readonly Entry[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [at = '', life = '', what = '', pid = '', cpuMs = ''] = line.split('\t');
    return { at: Number(at), life: Number(life), what, pid: Number(pid), cpuMs: Number(cpuMs) };
  });
}

export const count = (entries: readonly Entry[], what: string): number =>
  entries.filter((entry) => entry.what.startsWith(what)).length;

/** The first entry that begins with `what`. @throws Error if there is none. */
export function firstOf(entries: readonly Entry[], what: string): Entry {
  const entry = entries.find((candidate) => candidate.what.startsWith(what));
  if (entry === undefined) throw new Error(`The account has no "${what}".`);
  return entry;
}

const PAID = 'paid call ';

/**
 * What the lives of one worker paid for that an earlier life had paid for. A call is known to have been recorded once
 * the call after it was made.
 *
 * @param entries Account of one run of consecutive calls, named "paid call 1", "paid call 2", …
 */
export function repeatedCalls(entries: readonly Entry[]): Repeats {
  const calls = entries
    .filter(({ what }) => what.startsWith(PAID))
    .map(({ life, what }) => ({ life, call: Number(what.slice(PAID.length)) }));
  const reborn = [...new Set(entries.map(({ life }) => life))].filter((life) => life > 1);
  const again = calls.filter(({ life, call }) => calls.some((c) => c.life < life && c.call === call));
  const recorded = again.filter(({ life, call }) => calls.some((c) => c.life < life && c.call > call));
  return {
    perKill: reborn.map((life) => again.filter((repeat) => repeat.life === life).length),
    recordedAgain: recorded.length,
  };
}

/** "0 in 17, 1 in 3": how often each number occurs. */
export function histogram(numbers: readonly number[]): string {
  const values = [...new Set(numbers)].sort((a, b) => a - b);
  return values.map((value) => `${value} in ${numbers.filter((n) => n === value).length}`).join(', ');
}

/** The middle one; the upper of the two in the middle. NaN of nothing. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
