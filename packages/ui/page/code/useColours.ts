import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { DiffLine } from '../diff/diffLines.ts';
import { languageOf } from './languages.ts';
import type { Piece } from './Piece.ts';

/** Longer files have plain text only: lines. */
const MOST = 2_000;

export type Colours = ReadonlyMap<DiffLine, readonly Piece[]>;

const NONE: Colours = new Map();

/** Colours of the lines of a file, once its language is loaded. */
export function useColours(path: string, lines: readonly DiffLine[]): ReadonlySignal<Colours> {
  const colours = useSignal<Colours>(NONE);
  useEffect(() => {
    const language = languageOf(path);
    if (language === null || lines.length > MOST) return undefined;
    let isWanted = true;
    coloured(language, lines).then(
      (found) => {
        if (isWanted) colours.value = found;
      },
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [path, lines]);
  return colours;
}

/** Each side of a diff is a text of its own, hunk by hunk. */
async function coloured(language: string, lines: readonly DiffLine[]): Promise<Colours> {
  const { highlight } = await import('./highlighter.ts');
  const colours = new Map<DiffLine, readonly Piece[]>();
  for (const hunk of hunksOf(lines)) {
    for (const side of ['removed', 'added'] as const) {
      const own = hunk.filter(({ kind }) => kind === 'same' || kind === side);
      const pieces = await highlight(language, own.map(({ text }) => text).join('\n'));
      for (const [at, line] of own.entries()) colours.set(line, pieces[at] ?? []);
    }
  }
  return colours;
}

function hunksOf(lines: readonly DiffLine[]): readonly (readonly DiffLine[])[] {
  const hunks: DiffLine[][] = [[]];
  for (const line of lines) {
    if (line.kind === 'gap') hunks.push([]);
    else if (line.kind !== 'place') hunks.at(-1)?.push(line);
  }
  return hunks.filter((hunk) => hunk.length > 0);
}
