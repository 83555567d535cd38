import { displayWidth } from '../displayWidth.ts';
import { Inline } from './inline.ts';
import { withLook } from './look.ts';
import { wrap } from './wrap.ts';

/** A column that is narrower cannot be read. */
const MIN_COLUMN = 4;

const BETWEEN = ' │ ';
const CROSSING = '─┼─';

type Align = 'start' | 'end' | 'middle';

/** A table of Markdown: its lines, of which the second says how columns are aligned. */
export interface MarkdownTable {
  readonly head: readonly string[];
  readonly aligns: readonly Align[];
  readonly rows: readonly (readonly string[])[];
}

/** The table that begins with a line, and how many lines it has; `null` for none. It ends before a line without a bar. */
export function tableAt(
  lines: readonly string[],
  at: number,
): { readonly table: MarkdownTable; readonly length: number } | null {
  const [first = '', second = ''] = lines.slice(at, at + 2);
  if (!first.includes('|') || !second.includes('|')) return null;
  const [head, marks] = [cellsOf(first), cellsOf(second)];
  const isRule = marks.length > 0 && marks.every((mark) => /^:?-+:?$/.test(mark));
  if (!isRule || head.length !== marks.length) return null;
  let end = at + 2;
  while (lines[end]?.includes('|')) end += 1;
  const rows = lines.slice(at + 2, end).map(cellsOf);
  return { table: { head, aligns: marks.map(alignOf), rows }, length: end - at };
}

/** Its lines with aligned columns, cells broken to fit; `null` where it has too many columns for that. */
export function paintTable({ head, aligns, rows }: MarkdownTable, width: number): readonly string[] | null {
  const count = rows.reduce((most, { length }) => Math.max(most, length), head.length);
  const room = width - BETWEEN.length * (count - 1);
  if (room < MIN_COLUMN * count) return null;
  const widths = shareWidth(naturalWidths([head, ...rows], count), room);
  const layout = { widths, aligns };
  const painted = rows.map((row) => paintRow(row, layout));
  const rule = withLook('dim', widths.map((each) => '─'.repeat(each)).join(CROSSING));
  // Where a row takes several lines, one could not tell where the next begins.
  const isRuled = painted.some((lines) => lines.length > 1);
  return [
    ...paintRow(head, layout, 'bold'),
    rule,
    ...painted.flatMap((lines, at) => (isRuled && at > 0 ? [rule, ...lines] : lines)),
  ];
}

interface Layout {
  readonly widths: readonly number[];
  readonly aligns: readonly Align[];
}

function paintRow(row: readonly string[], { widths, aligns }: Layout, look?: 'bold'): readonly string[] {
  const cells = widths.map((width, column) => {
    const cell = new Inline(row[column] ?? '', look);
    return wrap(cell.text, { first: width, breaksWords: true }).map((range) => {
      const free = width - displayWidth(cell.text.slice(...range));
      return padded(cell.painted(range), free, aligns[column]);
    });
  });
  const height = cells.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((lines, column) => lines[line] ?? ' '.repeat(widths[column] ?? 0))
      .join(withLook('dim', BETWEEN))
      .trimEnd(),
  );
}

function padded(text: string, free: number, align: Align | undefined): string {
  const before = align === 'end' ? free : align === 'middle' ? Math.floor(free / 2) : 0;
  return ' '.repeat(before) + text + ' '.repeat(free - before);
}

function naturalWidths(rows: readonly (readonly string[])[], count: number): readonly number[] {
  const widths = new Array<number>(count).fill(1);
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, displayWidth(cell));
    }
  }
  return widths;
}

/** Narrow columns keep their width; wide ones share what is left. */
function shareWidth(natural: readonly number[], room: number): readonly number[] {
  const widths = [...natural];
  let [left, columns] = [room, natural.length];
  for (const [column, width] of [...natural.entries()].toSorted(([, a], [, b]) => a - b)) {
    const given = Math.min(width, Math.floor(left / columns));
    widths[column] = given;
    left -= given;
    columns -= 1;
  }
  return widths;
}

const alignOf = (mark: string): Align =>
  mark.endsWith(':') ? (mark.startsWith(':') ? 'middle' : 'end') : 'start';

/** What is between the bars of a line; a bar behind a backslash is text. */
function cellsOf(line: string): readonly string[] {
  const cells = line
    .replaceAll('\t', ' ')
    .trim()
    .split(/(?<!\\)\|/);
  if (cells[0] === '') cells.shift();
  if (cells.at(-1) === '') cells.pop();
  return cells.map((cell) => cell.trim());
}
