// Lines of a diff: parsed from git, made of two versions, arranged side by side.
import { diffLines } from 'diff';

/** A line of a unified diff. */
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'place';
  readonly text: string;
  /** In the file before and after; absent where it has none. */
  readonly before?: number;
  readonly after?: number;
}

export interface DiffFile {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  /** What git says of it besides: a mode, a name before, that it is binary. */
  readonly notes: readonly string[];
  readonly lines: readonly DiffLine[];
}

interface OpenFileDiff {
  path: string;
  notes: string[];
  lines: DiffLine[];
  before: number;
  after: number;
  /** Lines that the hunk still has: inside of one, `--- a` is a removed line. */
  leftBefore: number;
  leftAfter: number;
}

/** The files of a diff as git prints it; every line of it is in one of them. */
export function parseDiff(diff: string): readonly DiffFile[] {
  const files: OpenFileDiff[] = [];
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const file = files.at(-1);
    const isInside = file !== undefined && (file.leftBefore > 0 || file.leftAfter > 0);
    if (isInside || (file !== undefined && line.startsWith('\\'))) addLine(file, line);
    else if (line.startsWith('diff --git ')) files.push(openFileDiff(line));
    else if (file !== undefined) addHead(file, line);
    else if (line !== '') files.push({ ...openFileDiff(''), notes: [line] });
  }
  return files.map(({ path, notes, lines }) => ({
    path,
    notes,
    lines,
    added: lines.filter(({ kind }) => kind === 'added').length,
    removed: lines.filter(({ kind }) => kind === 'removed').length,
  }));
}

function openFileDiff(line: string): OpenFileDiff {
  const path = / b\/(.*)$/.exec(line)?.[1] ?? line.slice('diff --git '.length);
  return { path, notes: [], lines: [], before: 0, after: 0, leftBefore: 0, leftAfter: 0 };
}

function addHead(file: OpenFileDiff, line: string): void {
  const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
  if (hunk === null) {
    if (!/^(?:index|---|\+\+\+) /.test(line)) file.notes.push(line);
    return;
  }
  const [, before, countBefore = '1', after, countAfter = '1'] = hunk;
  file.before = Number(before);
  file.after = Number(after);
  file.leftBefore = Number(countBefore);
  file.leftAfter = Number(countAfter);
  file.lines.push({ kind: 'place', text: line });
}

function addLine(file: OpenFileDiff, line: string): void {
  const text = line.slice(1);
  if (line.startsWith('\\')) {
    file.lines.push({ kind: 'place', text: line });
    return;
  }
  const isAdded = line.startsWith('+');
  const isRemoved = line.startsWith('-');
  const before = isAdded ? {} : { before: file.before };
  const after = isRemoved ? {} : { after: file.after };
  file.lines.push({ kind: isAdded ? 'added' : isRemoved ? 'removed' : 'same', text, ...before, ...after });
  if (!isAdded) [file.before, file.leftBefore] = [file.before + 1, file.leftBefore - 1];
  if (!isRemoved) [file.after, file.leftAfter] = [file.after + 1, file.leftAfter - 1];
}

export interface ChangedLine {
  readonly kind: 'added' | 'removed' | 'same';
  readonly text: string;
}

/** The lines of two versions, the second with what it left out of the first. */
export function changedLines(before: string, after: string): readonly ChangedLine[] {
  return diffLines(before, after).flatMap(({ value, added, removed }) =>
    value
      .replace(/\n$/, '')
      .split('\n')
      .map((text) => ({ kind: added ? 'added' : removed ? 'removed' : 'same', text }) as const),
  );
}

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
