import type { DiffLine } from './diffLines.ts';

/** Lines that are opened at once. */
export const STEP = 20;

/** Opens unchanged lines. @param at - Index of the gap; `null` for the lines below the last one. */
export type OpenLines = (at: number | null, most: number) => void;

/** How many lines a gap leaves out. Pure. */
export function gapLength(lines: readonly DiffLine[], at: number): number {
  const gap = lines[at];
  if (gap?.kind !== 'gap' || gap.after === undefined) return 0;
  const above = lines.slice(0, at).findLast(({ after, kind }) => after !== undefined && kind !== 'gap');
  return Math.max(0, gap.after - (above?.after ?? 0) - 1);
}

/**
 * Returns the lines with the end of a gap opened. Pure.
 *
 * @param text - Every line of the file as it is now.
 * @param most - Lines to open.
 */
export function openGap(
  lines: readonly DiffLine[],
  at: number,
  { text, most }: { readonly text: readonly string[]; readonly most: number },
): readonly DiffLine[] {
  const gap = lines[at];
  const length = gapLength(lines, at);
  if (gap?.kind !== 'gap' || gap.after === undefined || gap.before === undefined || length === 0)
    return lines;
  const count = Math.min(length, most);
  const [after, before] = [gap.after - count, gap.before - count];
  const opened = Array.from(
    { length: count },
    (_, n): DiffLine => ({
      ...{ kind: 'same', text: text[after + n - 1] ?? '', before: before + n, after: after + n },
    }),
  );
  const left: readonly DiffLine[] = count < length ? [{ ...gap, text: '', after, before }] : [];
  return [...lines.slice(0, at), ...left, ...opened, ...lines.slice(at + 1)];
}

/** Lines of a file with those that follow the last one shown. Pure. */
export function openBelow(
  lines: readonly DiffLine[],
  { text, most }: { readonly text: readonly string[]; readonly most: number },
): readonly DiffLine[] {
  const last = lines.findLast(({ after, kind }) => after !== undefined && kind !== 'gap');
  const lastBefore = lines.findLast(({ before, kind }) => before !== undefined && kind !== 'gap');
  const [after, before] = [last?.after ?? 0, lastBefore?.before ?? 0];
  const opened = text.slice(after, after + most).map(
    (words, n): DiffLine => ({
      ...{ kind: 'same', text: words, before: before + n + 1, after: after + n + 1 },
    }),
  );
  return [...lines, ...opened];
}
