/**
 * `good`, `bad`, `due`: how something stands. `markdown`, `diff`: a document, styled by what its lines are. `row`: of a table,
 * broken within its last column.
 */
export type Style = 'bold' | 'dim' | 'good' | 'bad' | 'due' | 'row' | 'markdown' | 'diff';

/** Text in one style; a style changes how it looks on a terminal with colours and nothing else. */
export interface Styled {
  readonly style: Style;
  readonly text: string;
}

/** A line of text, or lines; styled as a whole or not at all. */
export type Line = string | Styled;

/** What a line says, wherever it is shown. */
export const textOf = (line: Line): string => (typeof line === 'string' ? line : line.text);

/** A line in a style, or in none. */
export const styled = (style: Style | undefined, text: string): Line =>
  style === undefined ? text : { style, text };

/** Two spaces further right. */
export const indented = (line: Line): Line =>
  typeof line === 'string' ? `  ${line}` : { ...line, text: `  ${line.text}` };

export const textOfAll = (lines: readonly Line[]): string => lines.map(textOf).join('\n');
