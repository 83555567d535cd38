import {
  killedAt,
  oneClickTwice,
  type Point,
  randomKills,
  staleApproval,
  startedTwice,
  twoAtOnce,
} from './accidents.ts';
import { count, type Entry, type Repeats } from './counting.ts';
import type { Scenario } from './Stand.ts';

/** What came of every accident. */
export interface Verdicts {
  /** Times one call was paid, by the point at which the worker was killed. */
  readonly paid: Readonly<Record<Point, number>>;
  readonly startedTwice: number;
  readonly kills: Repeats;
  readonly atOnce: { readonly accepted: number; readonly published: number };
  readonly twice: { readonly accepted: number; readonly announced: number };
  readonly stale: { readonly accepted: number; readonly published: number };
  /** Times published with answers tied to what was read; null if the stack needs no form of its own for it. */
  readonly bound: number | null;
  readonly refusals: readonly string[];
}

export interface JudgeOptions {
  readonly kills: number;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly bindable: boolean;
}

const accepted = (entries: readonly Entry[]): number => count(entries, 'approval accepted');
const published = (entries: readonly Entry[]): number => count(entries, 'published');

/** Plays all accidents, each on a stand of its own. */
export async function judge(
  play: <T>(scenario: Scenario<T>) => Promise<T>,
  { kills, random, bindable }: JudgeOptions,
): Promise<Verdicts> {
  const paid = async (point: Point): Promise<number> => count(await play(killedAt(point)), 'paid call');
  const atOnce = await play(twoAtOnce);
  const twice = await play(oneClickTwice);
  const stale = await play(staleApproval(false));
  const started = await play(startedTwice);
  const isRefusal = (what: string): boolean => what.includes(' refused: ');
  const refusals = [atOnce, twice, stale, started].flatMap((entries) => entries.map(({ what }) => what));
  return {
    paid: {
      'in the call': await paid('in the call'),
      'before its record': await paid('before its record'),
      'after its record': await paid('after its record'),
    },
    startedTwice: count(started, 'paid call'),
    kills: await play(randomKills(kills, random)),
    atOnce: { accepted: accepted(atOnce), published: published(atOnce) },
    twice: { accepted: accepted(twice), announced: count(twice, 'announced') },
    stale: { accepted: accepted(stale), published: published(stale) },
    bound: bindable ? published(await play(staleApproval(true))) : null,
    refusals: [...new Set(refusals.filter(isRefusal))],
  };
}
