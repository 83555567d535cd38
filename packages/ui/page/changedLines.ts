import { diffLines } from 'diff';

export interface ChangedLine {
  readonly kind: 'added' | 'removed' | 'same';
  readonly text: string;
}

/** The lines of two versions, the second with what it left out of the first. */
export function changedLines(before: string, after: string): readonly ChangedLine[] {
  return diffLines(before, after).flatMap(({ value, added, removed }) =>
    value
      .replace(/\n$/, '')
      .split('\n')
      .map((text) => ({ kind: added ? 'added' : removed ? 'removed' : 'same', text }) as const),
  );
}
