import type { Review } from '../artifacts.ts';
import type { DiffFile } from '../diff/diffLines.ts';

const TEST = /(^|\/)(?:tests?|__tests__|spec)\/|\.(?:test|spec)\.[^/]+$/;
const DOCUMENT = /(^|\/)docs?\/|\.(?:md|txt|rst|adoc)$/i;

/** Sources, tests, documents. */
const rankOf = (path: string): number => (TEST.test(path) ? 1 : DOCUMENT.test(path) ? 2 : 0);

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** Sources first, then tests and documents; the files of a folder together. Pure. */
export const readingOrder = (files: readonly DiffFile[]): readonly DiffFile[] =>
  files.toSorted(
    (a, b) =>
      rankOf(a.path) - rankOf(b.path) ||
      folderOf(a.path).localeCompare(folderOf(b.path), 'en') ||
      a.path.localeCompare(b.path, 'en'),
  );

export interface TreeFolder {
  /** Empty for the root. */
  readonly name: string;
  readonly files: readonly DiffFile[];
}

/** Files in their folders, in the order they come. Pure. */
export function treeOf(files: readonly DiffFile[]): readonly TreeFolder[] {
  const folders: { name: string; files: DiffFile[] }[] = [];
  for (const file of files) {
    const name = folderOf(file.path);
    if (folders.at(-1)?.name !== name) folders.push({ name, files: [] });
    folders.at(-1)?.files.push(file);
  }
  return folders;
}

/** A criterion, and where the diff shows it. */
export interface Evidence {
  readonly criterion: string;
  /** `null` without evidence. */
  readonly shownBy: string | null;
  /** The file it names; `null` where that is not in the diff. */
  readonly path: string | null;
  /** The named line of that file, or the line with the name of the case; `null` for the whole file. */
  readonly line: number | null;
}

/** Where the lines are that criteria name. Pure. */
export function evidenceOf(tasks: Review['tasks'], files: readonly DiffFile[]): readonly Evidence[] {
  return tasks.flatMap(({ criteria }) =>
    criteria.map(({ criterion, shownBy }) => ({ criterion, shownBy, ...placeIn(shownBy, files) })),
  );
}

function placeIn(shownBy: string | null, files: readonly DiffFile[]): Pick<Evidence, 'path' | 'line'> {
  if (shownBy === null) return { path: null, line: null };
  const named = files.filter(({ path }) => shownBy.includes(path));
  const file = named.toSorted((a, b) => b.path.length - a.path.length)[0] ?? fileWithCase(shownBy, files);
  if (file === undefined) return { path: null, line: null };
  const rest = shownBy.slice(shownBy.indexOf(file.path) + file.path.length);
  const number = Number(/^:(\d+)/.exec(rest)?.[1] ?? Number.NaN);
  const isThere = file.lines.some(({ after, kind }) => after === number && kind !== 'gap');
  return { path: file.path, line: isThere ? number : lineOfCase(shownBy, file) };
}

/** The names of cases in a text: the last part of a path of suites, and texts in quotes. */
const caseNames = (shownBy: string): readonly string[] =>
  [
    shownBy.split(/ › | > |: /).at(-1) ?? '',
    ...[...shownBy.matchAll(/["'“‘`]([^"'”’`]{4,})["'”’`]/g)].map(([, name = '']) => name),
  ]
    .map((name) => name.trim())
    .filter((name) => name.length > 3);

function lineOfCase(shownBy: string, { lines }: DiffFile): number | null {
  for (const name of caseNames(shownBy)) {
    const line = lines.find(
      ({ kind, text, after }) => kind !== 'gap' && after !== undefined && text.includes(name),
    );
    if (line?.after !== undefined) return line.after;
  }
  return null;
}

const fileWithCase = (shownBy: string, files: readonly DiffFile[]): DiffFile | undefined =>
  files.find((file) => lineOfCase(shownBy, file) !== null);
