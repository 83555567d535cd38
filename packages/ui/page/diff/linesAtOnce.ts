import type { DiffFile } from './diffLines.ts';

/** What of a file is made before it comes near the screen: every line, its beginning, or its head alone. */
export type LinesAtOnce = 'all' | 'beginning' | 'head';

/** Lines of a diff up to which all of it is there at once, to be searched. */
const SMALL = 1_000;

/** Files of a larger diff begin at once up to this line: more than a screen has. */
const BEGINNING = 400;

/** For each file of a diff. Pure. */
export function linesAtOnce(files: readonly Pick<DiffFile, 'lines'>[]): readonly LinesAtOnce[] {
  const total = files.reduce((sum, { lines }) => sum + lines.length, 0);
  let above = 0;
  return files.map(({ lines }) => {
    const made = total <= SMALL ? 'all' : above < BEGINNING ? 'beginning' : 'head';
    above += lines.length;
    return made;
  });
}
