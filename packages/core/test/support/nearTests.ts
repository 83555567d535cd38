import { posix } from 'node:path';

/** So many names help; more are a list to read. */
const NAMED = 3;
/** Of the larger name's letters, three at a time: less is chance, and so is half of what another one has. */
const NEAR = 0.35;
const OF_BEST = 0.5;

const nameOf = (path: string): string =>
  posix
    .basename(path)
    .replace(/(?:\.own|\.traces)?(?:\.test)?\.ts$/, '')
    .toLowerCase();

const threes = (name: string): ReadonlySet<string> =>
  new Set(Array.from({ length: Math.max(name.length - 2, 1) }, (_, at) => name.slice(at, at + 3)));

/** 0 to 1: how much of the larger name is in both. */
function likeness(one: string, other: string): number {
  const [a, b] = [threes(one), threes(other)];
  return [...a].filter((part) => b.has(part)).length / Math.max(a.size, b.size);
}

/** The paths whose names are most like that of `filter`, the nearest first. */
function near(filter: string, paths: readonly string[]): string[] {
  const name = nameOf(filter);
  const liked = paths
    .map((path) => ({ path, like: likeness(name, nameOf(path)) }))
    .sort((a, b) => b.like - a.like);
  const least = Math.max(NEAR, OF_BEST * (liked[0]?.like ?? 0));
  return liked
    .filter(({ like }) => like >= least)
    .slice(0, NAMED)
    .map(({ path }) => path);
}

/**
 * What to say when no test file was found.
 *
 * @param filters - As they were typed.
 * @param paths - Of all test files, from the root of the repository.
 */
export function noTestFound(filters: readonly string[], paths: readonly string[]): string {
  const found = [...new Set(filters.flatMap((filter) => near(filter, paths)))];
  const typed = filters.map((filter) => `"${filter}"`).join(' or ');
  return `No path of a test file contains ${typed}.${found.length === 0 ? '' : ` Near it: ${found.join(', ')}`}`;
}
