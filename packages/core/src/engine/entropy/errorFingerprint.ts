/**
 * The part of an error's message that says what went wrong: without ids, times, paths, ports, line numbers and
 * durations. Two occurrences of one error have the same fingerprint; an exit code or a count still tells two apart.
 */
export function errorFingerprint(message: string): string {
  return replaceAccidental(replaceAccidental(message, TIMES_AND_IDS), PLACES);
}

type Replacements = readonly (readonly [pattern: RegExp, placeholder: string])[];

/** Ids, times and durations: they differ between two occurrences of one thing. Each pattern is linear. */
export const TIMES_AND_IDS: Replacements = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/\b\d\d:\d\d:\d\d\b/g, '<time>'],
  [/\b0x[0-9a-f]{1,16}\b|\b(?=[a-f]{0,63}\d)[0-9a-f]{7,64}\b/gi, '<hex>'],
  [/\b\d{1,12}(?:\.\d{1,9})?\s?(?:ms|s|sec|seconds|minutes)\b/g, '<duration>'],
];

/** Where it happened: paths, ports, line numbers. They differ between two occurrences of one error. */
const PLACES: Replacements = [
  [/(?:file:\/\/)?(?:[A-Za-z]:)?(?:[\\/][\w.@+-]{1,255}){2,64}/g, '<path>'],
  [/:\d{1,6}(?::\d{1,6})?\b/g, ':<n>'],
  [/\b(line|column|col|port|pid)(\s{0,4})\d{1,9}\b/gi, '$1$2<n>'],
];

/** A text with what differs by accident replaced, in the order given. */
export function replaceAccidental(text: string, replacements: Replacements): string {
  return replacements.reduce(
    (replaced, [pattern, placeholder]) => replaced.replace(pattern, placeholder),
    text,
  );
}
