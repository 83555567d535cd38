// Files that are too small to stand alone: whoever follows a thought opens a door for a few lines.
import { posix } from 'node:path';
import { importsOf, withoutComments } from './imports.mjs';

/** A file of so many lines may serve one other alone. */
const ENOUGH = 30;

/** What may be smaller: files of one form, of which whoever has read one knows all; then those with a reason of their own. */
const FAMILIES = [
  /^packages\/core\/src\/state\/(?:\w+\/)?\w+Store\.ts$/, // a table each
  /^packages\/core\/src\/state\/doctor\//, // an examination each
  /^packages\/cli\/src\/commands\//, // a verb each
  /^packages\/ui\/page\/.*\.tsx$/, // a component each
  /^packages\/ui\/page\/run\/mergedLog\.ts$/, // without JSX, so that a test takes it without a page
];

const DOOR = /^\s*export\s+(?:type\s+)?(?:\*|\{[^}]*\})(?:\s+as\s+\w+)?\s+from\s+['"][^'"\n]+['"];\s*/gm;
const LATER = /\bimport\s*\(\s*['"](\.[^'"\n]+)['"]/g;

const isDoor = (code) => code.replace(DOOR, '').trim() === '';
const linesOf = (text) => text.trimEnd().split('\n').length;

/** Who imports each file, and which are loaded by `import()`: those are modules for the sake of that. */
function importersIn(sources) {
  const importers = new Map(sources.map(({ path }) => [path, new Set()]));
  const later = new Set();
  for (const { path, code } of sources) {
    const from = (target) => posix.join(posix.dirname(path), target);
    for (const { target } of importsOf(code)) {
      if (target.startsWith('.')) importers.get(from(target))?.add(path);
    }
    for (const [, target] of code.matchAll(LATER)) later.add(from(target));
  }
  return { importers, later };
}

/**
 * Files under 30 lines that one other imports, and into which they belong, as `{ path, into }`. What nobody imports is
 * started from outside; what an entry point hands out has its importers there; a file of `export … from` is a door.
 *
 * @param sources - `{ path, text }`, without tests; paths from the root.
 * @param entries - Paths of what packages export.
 */
export function shardsIn(sources, entries) {
  const read = sources.map(({ path, text }) => ({ path, text, code: withoutComments(text) }));
  const { importers, later } = importersIn(read);
  return read
    .filter(({ path, text, code }) => linesOf(text) < ENOUGH && !later.has(path) && !isDoor(code))
    .filter(({ path }) => !FAMILIES.some((family) => family.test(path)))
    .map(({ path }) => ({ path, by: [...importers.get(path)] }))
    .filter(({ by }) => by.length === 1 && !entries.has(by[0]))
    .map(({ path, by: [into] }) => ({ path, into }));
}
