// Files that import each other in a circle: none of them can be read, tested or moved without the others.
import { posix } from 'node:path';
import { importsOf, withoutComments } from './imports.mjs';

/** A type that is named by `import('./a.ts').A`: no call. */
const NAMED_TYPE = /\bimport\s*\(\s*['"](\.[^'"\n]+)['"]\s*\)\s*\.\s*(?!then\b|catch\b|finally\b)/g;

/** What each file needs before it can be read or loaded: types count, what `import()` loads later does not. */
function needsOf(sources) {
  const paths = new Set(sources.map(({ path }) => path));
  const needed = ({ path, text }) => {
    const code = withoutComments(text);
    const declared = importsOf(code).flatMap(({ target, isLater }) => (isLater ? [] : [target]));
    const types = [...code.matchAll(NAMED_TYPE)].map(([, target]) => target);
    const targets = [...declared, ...types].filter((target) => target.startsWith('.'));
    return targets.map((target) => posix.join(posix.dirname(path), target)).filter((to) => paths.has(to));
  };
  return new Map(sources.map((source) => [source.path, needed(source)]));
}

/** The shortest way from a file back to itself, as the files on it; `null` where there is none. */
function wayBack(start, needs) {
  const ways = [[start]];
  const seen = new Set();
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    for (const next of needs.get(way.at(-1))) {
      if (next === start) return way;
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return null;
}

/** Takes files away that need none that is left, until no more go: what stays is in a circle, or leads into one. */
function withoutEnds(needs) {
  const left = new Map(needs);
  for (let ends = [null]; ends.length > 0; ) {
    ends = [...left].filter(([, targets]) => !targets.some((to) => left.has(to))).map(([path]) => path);
    for (const path of ends) left.delete(path);
  }
  return left;
}

/**
 * The circles of files, each once, as the files on the way round.
 *
 * @param sources - `{ path, text }`, without tests.
 */
export function circlesOfFiles(sources) {
  const needs = needsOf(sources);
  const ways = new Map();
  for (const path of withoutEnds(needs).keys()) {
    const way = wayBack(path, needs);
    if (way !== null) ways.set(way.toSorted().join(' '), way);
  }
  return [...ways.values()];
}
