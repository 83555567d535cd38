import type { FileDesk } from './FileDesk.ts';
import { hasName, type NameWeights } from './filePassages.ts';

/** Files that are looked through, and their characters. */
const MAX_FILES = 5_000;
const MAX_SEARCHED = 16 * 1024 * 1024;
const MAX_FILE = 256 * 1024;

/** A name that more files have than this, and more than this part of them, is left out. */
const MANY = 8;
const MANY_OF_ALL = 0.03;

export interface FoundFile {
  readonly path: string;
  readonly text: string;
}

/** Result of a search for names. */
export interface Found {
  /** Those that mention any of the names, or are kept for their path. */
  readonly files: readonly FoundFile[];
  /** Of names that lead somewhere: the fewer files have one, the more points it has. */
  readonly weights: NameWeights;
}

/** Which paths are looked at, and which of them are found for their path alone. */
export type PathRules = Readonly<Record<'isWanted' | 'isKept', (path: string) => boolean>>;

/** Looks for names in the files on a desk, those that are kept first. */
export async function lookFor(
  names: readonly string[],
  desk: FileDesk,
  { isWanted, isKept }: PathRules,
): Promise<Found> {
  const wanted = (await desk.names()).filter(isWanted);
  const ordered = [...wanted.filter(isKept), ...wanted.filter((path) => !isKept(path))].slice(0, MAX_FILES);
  const files: FoundFile[] = [];
  const having = new Map<string, number>();
  let looked = 0;
  let searched = 0;
  for (const path of ordered) {
    const text = await desk.textOf(path);
    if (text === null || text.length > MAX_FILE) continue;
    searched += text.length;
    if (searched > MAX_SEARCHED) break;
    looked += 1;
    const own = names.filter((name) => hasName(text, name));
    for (const name of own) having.set(name, (having.get(name) ?? 0) + 1);
    if (own.length > 0 || isKept(path)) files.push({ path, text });
  }
  const most = Math.max(MANY, MANY_OF_ALL * looked);
  const telling = [...having].filter(([, count]) => count <= most);
  const weights = new Map(telling.map(([name, count]) => [name, Math.log((looked + 1) / count)]));
  return { files, weights };
}
