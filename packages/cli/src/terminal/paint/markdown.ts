import { displayWidth, type TextRange, wrap } from '../displayWidth.ts';
import { type Look, withLook } from './look.ts';

/**
 * Markdown as a person reads it on a terminal. Nothing of it goes and nothing moves: marks stay, only spaces, line ends and
 * the rules of tables are others. Whoever approves a text has seen the text.
 *
 * @param text - Safe to show: masked, and what cannot be seen is spelled out.
 * @param width - Of the terminal, in columns.
 */
export function paintMarkdown(text: string, width: number): string {
  const lines = text.split('\n');
  const painted: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const block = blockAt(lines, at, width);
    painted.push(block.painted.join('\n'));
    at += block.length;
  }
  return painted.join('\n');
}

interface PaintedBlock {
  readonly painted: readonly string[];
  /** Lines it was made of. */
  readonly length: number;
}

function blockAt(lines: readonly string[], at: number, width: number): PaintedBlock {
  const line = lines[at] ?? '';
  const fence = FENCE.exec(line)?.[1];
  if (fence !== undefined) return readFence(lines, at, fence);
  const found = tableAt(lines, at);
  const painted = found && paintTable(found.table, width);
  if (found !== null && painted !== null) return { painted, length: found.length };
  if (RULE.test(line)) return { painted: [withLook('dim', line)], length: 1 };
  const heading = HEADING.exec(line)?.[0];
  if (heading !== undefined) return { painted: hung(line, { mark: heading }, width, 'bold'), length: 1 };
  return paragraph(lines, at, width);
}

/** The info string of a fence of backticks has none itself: that is code in a line. */
const FENCE = /^ *(`{3,}(?=[^`]*$)|~{3,})/;

/** Without an end it goes on to the end of the text. */
function readFence(lines: readonly string[], at: number, fence: string): PaintedBlock {
  const isEnd = (line: string): boolean => {
    const end = line.trim();
    return end.length >= fence.length && end === fence.charAt(0).repeat(end.length);
  };
  let end = at + 1;
  while (end < lines.length && !isEnd(lines[end] ?? '')) end += 1;
  const code = lines.slice(at, end + 1);
  return { painted: code.map((line) => withLook('code', line)), length: code.length };
}

const HEADING = /^ {0,3}#{1,6}(?: |$)/;
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/;

/** An item, or lines of prose: as they are written while all of them fit, else one text that is broken anew. */
function paragraph(source: readonly string[], at: number, width: number): PaintedBlock {
  const first = untabbed(source[at] ?? '');
  const lead = leadOf(first);
  let end = at + 1;
  while (isContinued(source, end, lead)) end += 1;
  const lines = [first, ...source.slice(at + 1, end).map(untabbed)];
  const isWritten = lines.every((line) => displayWidth(line) <= width);
  const texts = isWritten
    ? lines
    : [lines.map((line, index) => (index === 0 ? line : line.trim())).join(' ')];
  return { painted: texts.flatMap((text) => hung(text, leadOf(text), width)), length: lines.length };
}

/** Begins something of its own. */
const BEGINS = /^ *(?:$|[>#|]|[-*+] |\d{1,9}[.)] |=+ *$|`{3}|~{3})/;

/** Whether a line goes on with the text of the one before: its end says nothing then. */
function isContinued(lines: readonly string[], at: number, { mark, hasMark }: Lead): boolean {
  const [before = '', line] = [lines[at - 1], lines[at]];
  if (line === undefined || before.trim() === '' || /(?: {2}|\\)$/.test(before)) return false;
  // Text that is indented further is code.
  const isCode = line.search(/[^ ]/) > mark.length || (!hasMark && mark.length >= 4);
  return !isCode && !BEGINS.test(line) && !RULE.test(line) && tableAt(lines, at) === null;
}

/** What the lines of an item, a quotation or an indented text are hung under. */
interface Lead {
  readonly mark: string;
  /** Whether it is more than spaces. */
  readonly hasMark?: boolean;
  /** Check box in it. */
  readonly box?: string | undefined;
}

const LEAD = /^ *(?:> ?)*(?:(?:[-*+]|\d{1,9}[.)]) +(?:(\[[ xX]\]) +)?)?/;

function leadOf(line: string): Lead {
  const [mark = '', box] = LEAD.exec(line) ?? [];
  return { mark, hasMark: mark.trim() !== '', box };
}

function hung(text: string, { mark, box }: Lead, width: number, base?: Look): readonly string[] {
  const inline = new Inline(text, base);
  if (box !== undefined) {
    const from = mark.indexOf(box);
    inline.mark([from, from + box.length], box === '[ ]' ? 'due' : 'good');
  }
  // Deep indentation leaves no room to hang anything in.
  const hang = mark.length > width / 2 ? 0 : displayWidth(mark);
  return wrap(text, { first: width, rest: width - hang, lead: mark.length }).map(
    (range, index) => (index === 0 ? '' : ' '.repeat(hang)) + inline.painted(range),
  );
}

/** A tab takes what is left of eight columns; what is broken has to know how many. */
const untabbed = (line: string): string => line.replaceAll('\t', '    ');

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
function tableAt(
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
function paintTable({ head, aligns, rows }: MarkdownTable, width: number): readonly string[] | null {
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

/** A line of Markdown with the look of each of its units (UTF-16). */
class Inline {
  readonly text: string;
  readonly #looks: (Look | undefined)[];

  /** Code and what is strong look so; the rest looks like `base`. Every character stays, the marks too. */
  constructor(text: string, base?: Look) {
    this.text = text;
    this.#looks = new Array(text.length).fill(base);
    const code = codeSpans(text);
    for (const [from, to] of strongSpans(text, code)) this.#looks.fill('bold', from, to);
    for (const [from, to] of code) this.#looks.fill('code', from, to);
  }

  /** Gives a stretch another look. */
  mark([from, to]: TextRange, look: Look): void {
    this.#looks.fill(look, from, to);
  }

  /** A stretch of it, with the codes of its looks. */
  painted([from, to]: TextRange): string {
    const painted: string[] = [];
    for (let start = from; start < to; ) {
      let end = start + 1;
      while (end < to && this.#looks[end] === this.#looks[start]) end += 1;
      painted.push(withLook(this.#looks[start], this.text.slice(start, end)));
      start = end;
    }
    return painted.join('');
  }
}

/** What is between two equal runs of backticks, with them. */
function codeSpans(text: string): readonly TextRange[] {
  const runs = [...text.matchAll(/`+/g)].map(({ 0: { length }, index }) => ({ index, length }));
  // The next run of the same length, found from the end: a line of nothing but backticks takes no longer.
  const next: (number | undefined)[] = [];
  const last = new Map<number, number>();
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    const length = runs[at]?.length ?? 0;
    next[at] = last.get(length);
    last.set(length, at);
  }
  const spans: TextRange[] = [];
  for (let at = 0; at < runs.length; at += 1) {
    const [open, close] = [runs[at], runs[next[at] ?? -1]];
    if (open === undefined || close === undefined) continue;
    spans.push([open.index, close.index + close.length]);
    at = next[at] ?? at;
  }
  return spans;
}

/** What is between two marks of strong text outside of code, with them. */
function strongSpans(text: string, code: readonly TextRange[]): readonly TextRange[] {
  const spans: TextRange[] = [];
  let open: number | null = null;
  let span = 0;
  for (const { index } of text.matchAll(/\*\*/g)) {
    while ((code[span]?.[1] ?? text.length) <= index) span += 1;
    if ((code[span]?.[0] ?? text.length) <= index) continue;
    if (open !== null && /\S/.test(text.charAt(index - 1))) {
      spans.push([open, index + 2]);
      open = null;
    } else if (/\S/.test(text.charAt(index + 2))) {
      open = index;
    }
  }
  return spans;
}
