// Lines of text, their styles and columns.

import { displayWidth } from './displayWidth.ts';
import { oneLine, visibleText } from './visible.ts';

/**
 * `good`, `bad`, `due`: how something stands. `markdown`, `diff`: a document, styled by what its lines are. `row`: of a table,
 * broken within its last column.
 */
export type Style = 'plain' | 'bold' | 'dim' | 'good' | 'bad' | 'due' | 'row' | 'markdown' | 'diff';

/** Text in one style; a style changes how it looks on a terminal with colours and nothing else. */
export interface Styled {
  readonly style: Style;
  readonly text: string;
  /** What it says was masked as gates mask: no other rule may hide what is approved. */
  readonly isAtGate?: true;
}

/** A line of text, or lines; styled as a whole or not at all. */
export type Line = string | Styled;

/** What a line says, wherever it is shown. */
export const lineText = (line: Line): string => (typeof line === 'string' ? line : line.text);

/** A line in a style, or in none. */
export const styled = (style: Style | undefined, text: string): Line =>
  style === undefined ? text : { style, text };

/** What a gate shows, of which its own rules have hidden what is hidden. */
export const linesAtGate = (lines: readonly Line[]): readonly Line[] =>
  lines.map((line) => ({
    ...(typeof line === 'string' ? { style: 'plain', text: line } : line),
    isAtGate: true,
  }));

/** Two spaces further right. */
export const indentLine = (line: Line): Line =>
  typeof line === 'string' ? `  ${line}` : { ...line, text: `  ${line.text}` };

export const textOfAll = (lines: readonly Line[]): string => lines.map(lineText).join('\n');

/** Rows as aligned columns, two spaces apart, without spaces at their ends. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const lines = rows.map((row) => row.map((cell) => toCell(oneLine(cell))));
  const widths: number[] = [];
  for (const row of lines) {
    for (const [index, { width }] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, width);
  }
  const padded = ({ text, width }: Cell, index: number): string =>
    text + ' '.repeat((widths[index] ?? 0) - width);
  return lines.map((row) => row.map(padded).join('  ').replace(/ +$/, ''));
}

interface Cell {
  readonly text: string;
  /** Of what it will be once what cannot be seen is spelled out. */
  readonly width: number;
}

const toCell = (text: string): Cell => ({ text, width: displayWidth(visibleText(text)) });

/** Without the spaces and line feeds at its end; whatever else is there is shown. */
export function withoutBlankEnd(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t\n'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
