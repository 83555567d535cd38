import { diffWordsWithSpace } from 'diff';
import type { DiffLine } from './diffLines.ts';

/** A part of a line, by characters: `from` and up to, without, `to`. */
export interface Mark {
  readonly from: number;
  readonly to: number;
}

/** Of two lines, the part that has to be the same for the rest to be worth a mark. */
const LEAST_SAME = 1 / 3;

/** Longer lines are compared as a whole: characters. */
const LONGEST = 400;

/** Words that are not in the other line, for each removed line and the added one in its place. Pure. */
export function wordMarks(lines: readonly DiffLine[]): ReadonlyMap<DiffLine, readonly Mark[]> {
  const marks = new Map<DiffLine, readonly Mark[]>();
  for (let at = 0; at < lines.length; ) {
    const removed = runOf(lines, at, 'removed');
    const added = runOf(lines, at + removed.length, 'added');
    for (const [n, line] of removed.entries()) {
      const other = added[n];
      const found = other === undefined ? null : markedWords(line.text, other.text);
      if (other === undefined || found === null) continue;
      marks.set(line, found.removed);
      marks.set(other, found.added);
    }
    at += Math.max(1, removed.length + added.length);
  }
  return marks;
}

/** `null` where two lines have too little in common. */
export function markedWords(
  before: string,
  after: string,
): { readonly removed: readonly Mark[]; readonly added: readonly Mark[] } | null {
  if (before.length > LONGEST || after.length > LONGEST) return null;
  const [removed, added]: [Mark[], Mark[]] = [[], []];
  let [then, now, same] = [0, 0, 0];
  for (const { value, added: isAdded, removed: isRemoved } of diffWordsWithSpace(before, after)) {
    if (isRemoved) removed.push({ from: then, to: then + value.length });
    else if (isAdded) added.push({ from: now, to: now + value.length });
    else same += value.trim().length;
    if (!isAdded) then += value.length;
    if (!isRemoved) now += value.length;
  }
  const longest = Math.max(before.trim().length, after.trim().length);
  return longest > 0 && same >= longest * LEAST_SAME ? { removed, added } : null;
}

function runOf(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): readonly DiffLine[] {
  let to = from;
  while (lines[to]?.kind === kind) to += 1;
  return lines.slice(from, to);
}
