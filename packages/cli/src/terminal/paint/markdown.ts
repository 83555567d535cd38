import { displayWidth } from '../displayWidth.ts';
import { Inline } from './inline.ts';
import { type Look, withLook } from './look.ts';
import { paintTable, tableAt } from './table.ts';
import { wrap } from './wrap.ts';

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
