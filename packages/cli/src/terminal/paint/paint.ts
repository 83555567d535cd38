import { displayWidth, wrap } from '../displayWidth.ts';
import type { Styled } from '../Line.ts';
import { type Look, withLook } from './look.ts';
import { paintMarkdown } from './markdown.ts';

/**
 * A text as a terminal with colours shows it.
 *
 * @param styled - Safe to show: masked, and what cannot be seen is spelled out. Nothing of it is taken for a code.
 * @param width - Of the terminal, in columns.
 */
export function paint({ style, text }: Styled, width: number): string {
  if (style === 'plain') return text;
  if (style === 'markdown') return paintMarkdown(text, width);
  if (style === 'row') return hangingRow(text, width);
  return style === 'diff' ? paintDiff(text) : withLook(style, text);
}

/** A column ends with two spaces. */
const LAST_COLUMN = /^.*\S {2,}(?=\S)/;

function hangingRow(text: string, width: number): string {
  const lead = LAST_COLUMN.exec(text)?.[0] ?? '';
  const hang = displayWidth(lead);
  if (hang > width / 2) return text;
  return wrap(text, { first: width, rest: width - hang, lead: lead.length })
    .map((range, index) => (index === 0 ? '' : ' '.repeat(hang)) + text.slice(...range))
    .join('\n');
}

/** A unified diff with what was added and removed told apart. A header's lines are not: `--- a/x` removes nothing. */
function paintDiff(text: string): string {
  let isHeader = false;
  const paint = (line: string): string => {
    if (line.startsWith('diff --git ')) isHeader = true;
    else if (line.startsWith('@@')) isHeader = false;
    return withLook(isHeader ? 'bold' : LOOKS[line.charAt(0)], line);
  };
  return text.split('\n').map(paint).join('\n');
}

const LOOKS: Readonly<Record<string, Look>> = { '+': 'good', '-': 'bad', '@': 'code' };
