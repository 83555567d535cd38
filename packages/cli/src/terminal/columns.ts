import { displayWidth } from './displayWidth.ts';
import { oneLine, visibleText } from './visible.ts';

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
