/** Named in a message; the rest is counted. */
const NAMED = 10;

/** Files in words, for a message. */
export function namedFiles(files: readonly string[]): string {
  const more = files.length > NAMED ? ` and ${files.length - NAMED} more` : '';
  return files.slice(0, NAMED).join(', ') + more;
}
