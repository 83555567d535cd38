/** Lines that are shown. */
const MAX_LINES = 12;
/** Characters of a line that are shown. */
const MAX_SHOWN = 240;
/** Of the words of a line, so many make it like another one. */
const LIKE = 0.5;

/**
 * Where a text has lines like those of a missing passage, for the agent that looked for the passage. These are lines that
 * differ in white space alone, else those around the one that shares most words with its longest line.
 *
 * @param text - With `\n` as its line ends, as the passage.
 */
export function nearestLines(text: string, passage: string): string {
  const wanted = passage.split('\n');
  if (wanted.length > 1 && wanted.at(-1)?.trim() === '') wanted.pop();
  const lines = text.split('\n');
  const found = nearestStart(lines, wanted);
  if (found === null) return 'No line of the file is like it.';
  const from = Math.max(0, found);
  const shown = lines.slice(from, Math.max(from + 1, found + Math.min(wanted.length, MAX_LINES)));
  const isSpaceAlone = wanted.every((line, at) => squeezed(line) === squeezed(lines[found + at] ?? ''));
  const words = isSpaceAlone ? 'Other white space alone have' : 'The nearest are';
  const numbered = shown.map((line, at) => `${from + at + 1}: ${line.slice(0, MAX_SHOWN)}`);
  return [`${words} lines ${from + 1} to ${from + shown.length}:`, ...numbered].join('\n');
}

/** The index of the line where a passage would begin, also before the first; `null` without a similar line. */
function nearestStart(lines: readonly string[], wanted: readonly string[]): number | null {
  const anchor = wanted.reduce(
    (best, line, at) => (line.length > (wanted[best] ?? '').length ? at : best),
    0,
  );
  const words = wordsOf(wanted[anchor] ?? '');
  if (words.size === 0) return null;
  const scores = lines.map((line) => sharedWords(words, line));
  const best = scores.reduce((most, score) => Math.max(most, score), 0);
  if (best < LIKE) return null;
  const starts = scores.flatMap((score, at) => (score === best ? [at - anchor] : []));
  const alike = (start: number): number =>
    wanted.filter((line, at) => squeezed(line) === squeezed(lines[start + at] ?? '')).length;
  return starts.reduce((nearest, start) => (alike(start) > alike(nearest) ? start : nearest));
}

const squeezed = (line: string): string => line.replaceAll(/\s+/g, '');

const wordsOf = (line: string): ReadonlySet<string> =>
  new Set(line.match(/[\p{L}\p{N}_$]+|[^\s\p{L}\p{N}_$]/gu) ?? []);

/** The part of some words that a line has; less for its other words. */
function sharedWords(words: ReadonlySet<string>, line: string): number {
  const own = wordsOf(line);
  const shared = [...words].filter((word) => own.has(word)).length;
  return shared / words.size - Math.max(0, own.size - words.size) / 1_000;
}
