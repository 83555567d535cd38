const CONTEXT = 3;

/**
 * An edit as a unified diff of one hunk: everything between the first and the last line that differ.
 *
 * @param before - `null` for a file that is created.
 * @param after - `null` for one that is deleted.
 */
export function editDiff(path: string, before: string | null, after: string | null): string {
  const [old, now] = [splitTextLines(before), splitTextLines(after)];
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const from = Math.max(0, start - CONTEXT);
  const kept = Math.max(0, end - CONTEXT);
  const [oldHunk, newHunk] = [old.slice(from, old.length - kept), now.slice(from, now.length - kept)];
  return [
    before === null ? '--- /dev/null' : `--- a/${path}`,
    after === null ? '+++ /dev/null' : `+++ b/${path}`,
    `@@ -${range(from, oldHunk.length)} +${range(from, newHunk.length)} @@`,
    ...old.slice(from, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...now.slice(start, now.length - end).map((line) => `+${line}`),
    ...old.slice(old.length - end, old.length - kept).map((line) => ` ${line}`),
    '',
  ].join('\n');
}

const splitTextLines = (text: string | null): readonly string[] =>
  text === null || text === '' ? [] : text.replace(/\n$/, '').split('\n');

const range = (from: number, length: number): string => `${length === 0 ? from : from + 1},${length}`;
