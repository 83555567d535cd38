// Lines of a diff: parsed from git, made of two versions, arranged side by side.
import { diffLines } from 'diff';

/** A line of a unified diff. */
export interface DiffLine {
  /** `gap`: lines that did not change are left out; its numbers are those of the line below it. */
  readonly kind: 'added' | 'removed' | 'same' | 'place' | 'gap';
  readonly text: string;
  /** In the file before and after; absent where it has none. */
  readonly before?: number;
  readonly after?: number;
}

/** What became of a file as a whole. */
export type FileChange = 'changed' | 'new' | 'deleted' | 'moved' | 'copied' | 'binary';

export interface DiffFile {
  readonly path: string;
  readonly change: FileChange;
  /** Its path before, where it was moved or copied. */
  readonly from: string | null;
  /** Its mode as it was and is, such as `100644 → 100755`. */
  readonly mode: string | null;
  readonly added: number;
  readonly removed: number;
  /** What git says of it besides. */
  readonly notes: readonly string[];
  readonly lines: readonly DiffLine[];
}

/** A file of which only lines are known. */
export const changedFile = (
  path: string,
  lines: readonly DiffLine[],
  notes: readonly string[] = [],
): DiffFile => ({ path, change: 'changed', from: null, mode: null, notes, lines, ...countChanges(lines) });

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?/;

/** Lines of a head that repeat the path, or are told in a word. */
const HEAD =
  /^(?:diff --git |index |--- |\+\+\+ |(?:similarity|dissimilarity) index |(?:rename|copy) (?:from|to) |(?:new|deleted) file mode |(?:old|new) mode |Binary files )/;

const KINDS: Readonly<Record<string, ChangedLine['kind']>> = {
  '+': 'added',
  '-': 'removed',
  ' ': 'same',
  '': 'same',
};

/** The files of a diff of git. Every line is in one of them, also where the diff is masked or cut off. */
export function parseDiff(diff: string): readonly DiffFile[] {
  const sections = diff.replace(/\n$/, '').split(/\n(?=diff --git )/);
  return sections.filter((section) => section !== '').map(parseFile);
}

function parseFile(section: string): DiffFile {
  const all = section.split('\n');
  const end = all.findIndex((line) => HUNK.test(line));
  const head = end === -1 ? all : all.slice(0, end);
  const lines = linesOfHunks(all.slice(head.length));
  const [, path = ''] = /^diff --git (?:.*? b\/)?(.*)$/.exec(all[0] ?? '') ?? [];
  const notes = head.filter((line) => !HEAD.test(line));
  return { path, ...headOf(head), notes, lines, ...countChanges(lines) };
}

/** What the head of a file says of it as a whole. */
function headOf(head: readonly string[]): Pick<DiffFile, 'change' | 'from' | 'mode'> {
  const after = (start: string): string | null =>
    head.find((line) => line.startsWith(start))?.slice(start.length) ?? null;
  const [moved, copied] = [after('rename from '), after('copy from ')];
  const [old, now] = [after('old mode '), after('new mode ')];
  const has = (start: string): boolean => after(start) !== null;
  const change: FileChange = has('Binary files ')
    ? 'binary'
    : has('new file mode ')
      ? 'new'
      : has('deleted file mode ')
        ? 'deleted'
        : moved !== null
          ? 'moved'
          : copied !== null
            ? 'copied'
            : 'changed';
  return { change, from: moved ?? copied, mode: old !== null && now !== null ? `${old} → ${now}` : null };
}

function linesOfHunks(lines: readonly string[]): readonly DiffLine[] {
  let at = { before: 0, after: 0 };
  return lines.map((line) => {
    const [, before, after] = HUNK.exec(line) ?? [];
    if (before !== undefined) at = { before: Number(before), after: Number(after) };
    const kind = before === undefined ? KINDS[line.slice(0, 1)] : undefined;
    return kind === undefined ? placeLine(line, at) : numberedLine({ kind, text: line.slice(1) }, at);
  });
}

/** A head of a hunk knows where the next line is; nothing else that is no line does. */
const placeLine = (line: string, at: { readonly before: number; readonly after: number }): DiffLine =>
  HUNK.test(line) ? { kind: 'gap', text: line.replace(HUNK, ''), ...at } : { kind: 'place', text: line };

/** @param at - The numbers of this line, then of the next one. */
export function numberedLine({ kind, text }: ChangedLine, at: { before: number; after: number }): DiffLine {
  const before = kind === 'added' ? {} : { before: at.before++ };
  const after = kind === 'removed' ? {} : { after: at.after++ };
  return { kind, text, ...before, ...after };
}

export function countChanges(lines: readonly DiffLine[]): Pick<DiffFile, 'added' | 'removed'> {
  const count = (kind: DiffLine['kind']): number => lines.filter((line) => line.kind === kind).length;
  return { added: count('added'), removed: count('removed') };
}

interface ChangedLine {
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
interface SplitRow {
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
