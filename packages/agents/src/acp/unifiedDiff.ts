const CONTEXT = 3;

/** One change of a file as a unified diff of one hunk, from the first line that differs to the last. */
export function unifiedDiff(path: string, before: string | null, after: string): string {
  const old = splitDiffLines(before ?? '');
  const now = splitDiffLines(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end))
    end += 1;
  const from = Math.max(0, start - CONTEXT);
  const kept = Math.max(0, end - CONTEXT);
  const lines = [
    ...old.slice(from, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...now.slice(start, now.length - end).map((line) => `+${line}`),
    ...old.slice(old.length - end, old.length - kept).map((line) => ` ${line}`),
  ];
  const range = (count: number): string => `${count === 0 ? from : from + 1},${count}`;
  const removed = range(old.length - kept - from);
  const added = range(now.length - kept - from);
  const head = [`--- ${before === null ? '/dev/null' : `a/${path}`}`, `+++ b/${path}`];
  return [...head, `@@ -${removed} +${added} @@`, ...lines, ''].join('\n');
}

function splitDiffLines(text: string): readonly string[] {
  if (text === '') return [];
  return text.replace(/\n$/, '').split('\n');
}
