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
