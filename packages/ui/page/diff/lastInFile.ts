import type { LastComment } from '@devs/core/internal';
import type { DiffLine } from './diffLines.ts';

/** Comments of the last round at the lines of a diff that they quote. */
export interface LastInFile {
  readonly at: ReadonlyMap<DiffLine, readonly LastComment[]>;
  /** Comments without a shown line that has their quote. */
  readonly elsewhere: readonly LastComment[];
}

/** Of several lines that hold a quote, the nearest to where it was; one that is there now before one that went. Pure. */
export function lastInFile(lines: readonly DiffLine[], comments: readonly LastComment[]): LastInFile {
  const at = new Map<DiffLine, readonly LastComment[]>();
  const elsewhere: LastComment[] = [];
  for (const comment of comments) {
    const line = lineOf(comment, lines);
    if (line === null) elsewhere.push(comment);
    else at.set(line, [...(at.get(line) ?? []), comment]);
  }
  return { at, elsewhere };
}

function lineOf({ quote, line: was = 1 }: LastComment, lines: readonly DiffLine[]): DiffLine | null {
  const [first = ''] = quote.split('\n');
  const isCode = ({ kind }: DiffLine): boolean => kind !== 'gap' && kind !== 'place';
  const holding = lines.filter((line) => isCode(line) && first.trim() !== '' && line.text.includes(first));
  const distance = ({ after, before }: DiffLine): number => Math.abs((after ?? before ?? 0) - was);
  const rank = (line: DiffLine): number => distance(line) + (line.kind === 'removed' ? 0.5 : 0);
  return holding.toSorted((a, b) => rank(a) - rank(b))[0] ?? null;
}
