import type { DiffLine } from '../parseDiff.ts';

/** A row of two columns: what was, and what is. A head of a hunk is in both. */
export interface SplitRow {
  readonly before: DiffLine | null;
  readonly after: DiffLine | null;
}

/** Lines that took the place of others stand beside them; no line is left out, and each side keeps its order. */
export function splitRows(lines: readonly DiffLine[]): readonly SplitRow[] {
  const rows: SplitRow[] = [];
  for (let at = 0; at < lines.length; ) {
    const removed = sameKindUntil(lines, at, 'removed');
    const added = sameKindUntil(lines, at + removed.length, 'added');
    for (let row = 0; row < Math.max(removed.length, added.length); row += 1) {
      rows.push({ before: removed[row] ?? null, after: added[row] ?? null });
    }
    at += removed.length + added.length;
    const line = lines[at];
    if (removed.length + added.length > 0 || line === undefined) continue;
    rows.push({ before: line, after: line });
    at += 1;
  }
  return rows;
}

function sameKindUntil(
  lines: readonly DiffLine[],
  from: number,
  kind: DiffLine['kind'],
): readonly DiffLine[] {
  let to = from;
  while (lines[to]?.kind === kind) to += 1;
  return lines.slice(from, to);
}
