import { oneLine } from '@devs/core';

/** Rows as aligned columns, two spaces apart, without spaces at their ends. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const lines = rows.map((row) => row.map(oneLine));
  const widths: number[] = [];
  for (const row of lines) {
    for (const [index, { length }] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, length);
  }
  const padded = (cell: string, index: number): string => cell.padEnd(widths[index] ?? 0);
  return lines.map((row) => row.map(padded).join('  ').replace(/ +$/, ''));
}
