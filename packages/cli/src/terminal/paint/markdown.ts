import { displayWidth } from '../displayWidth.ts';
import { Inline } from './inline.ts';
import { withLook } from './look.ts';
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

interface Block {
  readonly painted: readonly string[];
  /** Lines it was made of. */
  readonly length: number;
}

function blockAt(lines: readonly string[], at: number, width: number): Block {
  const line = lines[at] ?? '';
  const fence = FENCE.exec(line)?.[1];
  if (fence !== undefined) return fenced(lines, at, fence);
  const found = tableAt(lines, at);
  const painted = found && paintTable(found.table, width);
  if (found === null || painted === null) return { painted: paintLine(line, width), length: 1 };
  return { painted, length: found.length };
}

/** The info string of a fence of backticks has none itself: that is code in a line. */
const FENCE = /^ *(`{3,}(?=[^`]*$)|~{3,})/;

/** Without an end it goes on to the end of the text. */
function fenced(lines: readonly string[], at: number, fence: string): Block {
  const isEnd = (line: string): boolean => {
    const end = line.trim();
    return end.length >= fence.length && end === fence.charAt(0).repeat(end.length);
  };
  let end = at + 1;
  while (end < lines.length && !isEnd(lines[end] ?? '')) end += 1;
  const code = lines.slice(at, end + 1);
  return { painted: code.map((line) => withLook('code', line)), length: code.length };
}

/** A tab takes as many columns as are left of eight; what is broken has to know how many. */
const TAB = '    ';

const HEADING = /^ {0,3}#{1,6}(?: |$)/;
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/;
/** What the lines of an item, a quotation or an indented paragraph are hung under. */
const LEAD = /^ *(?:> ?)*(?:(?:[-*+]|\d{1,9}[.)]) +(?:(\[[ xX]\]) +)?)?/;

function paintLine(source: string, width: number): readonly string[] {
  const line = source.replaceAll('\t', TAB);
  if (RULE.test(line)) return [withLook('dim', line)];
  const heading = HEADING.exec(line)?.[0];
  const [lead = '', box] = heading === undefined ? (LEAD.exec(line) ?? []) : [heading];
  const inline = new Inline(line, heading === undefined ? undefined : 'bold');
  if (box !== undefined) {
    const from = lead.indexOf(box);
    inline.mark([from, from + box.length], box === '[ ]' ? 'due' : 'good');
  }
  // Deep indentation leaves no room to hang anything in.
  const hang = lead.length > width / 2 ? 0 : displayWidth(lead);
  return wrap(line, { first: width, rest: width - hang, lead: lead.length }).map(
    (range, index) => (index === 0 ? '' : ' '.repeat(hang)) + inline.painted(range),
  );
}
