import { round } from '../../../core/bench/state/figures.ts';
import type { Row } from './measure.ts';
import type { Way } from './ways.ts';

export const ROW_HEAD = [
  'repository',
  'way',
  'requests',
  'tokens in',
  'of them new',
  'tokens out',
  'minutes',
  'requests by stage',
] as const;

export function rowCells(row: Row): readonly (string | number)[] {
  const { repository, way, requests, tokensIn, tokensNew, tokensOut, minutes, parts } = row;
  const stages = Object.entries(parts).map(([part, { requests: count }]) => `${part} ${count}`);
  return [repository, way, requests, tokensIn, tokensNew, tokensOut, round(minutes), stages.join(', ')];
}

/** Beside the CLI alone, in the same repository. */
export interface Ratio {
  readonly repository: string;
  readonly way: Way;
  readonly requests: number;
  /** In and out. */
  readonly tokens: number;
}

/** Of every way but `bare`; then of all repositories together, where there are several. */
export function ratiosOf(rows: readonly Row[]): readonly Ratio[] {
  const bare = rows.filter(({ way }) => way === 'bare');
  const each = rows.flatMap((row) => {
    const base = bare.find(({ repository }) => repository === row.repository);
    return row.way === 'bare' || base === undefined ? [] : [ratio(row.repository, row.way, [row], [base])];
  });
  const ways = [...new Set(each.map(({ way }) => way))];
  const all = ways.map((way) => {
    const of = each.filter((one) => one.way === way).map(({ repository }) => repository);
    const within = (which: Way): readonly Row[] =>
      rows.filter((row) => row.way === which && of.includes(row.repository));
    return ratio('all', way, within(way), within('bare'));
  });
  return bare.length > 1 ? [...each, ...all] : each;
}

function ratio(repository: string, way: Way, rows: readonly Row[], base: readonly Row[]): Ratio {
  const over = (each: (row: Row) => number): number => round(sum(rows.map(each)) / sum(base.map(each)));
  return {
    repository,
    way,
    requests: over(({ requests }) => requests),
    tokens: over(({ tokensIn, tokensOut }) => tokensIn + tokensOut),
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
