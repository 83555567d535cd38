import type { GitRepository } from './GitRepository.ts';
import { looseEntry, looseObject } from './looseObject.ts';
import { EMPTY_TREE } from './refs.ts';

/** Bytes; a larger file is nobody's to read as text. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** Of git: a file, or a file that can be run. A link and another repository are none. */
const FILE_MODE = /^100/;

export interface TreeEntry {
  readonly mode: string;
  readonly id: string;
  /** NaN of what is no file. */
  readonly bytes: number;
}

/** So many are asked for at once: an argument list is limited. */
const AT_ONCE = 200;

const LITERAL = { GIT_LITERAL_PATHSPECS: '1' } as const;

/** Of these paths the files of a tree or commit, by path; no other file is looked at. */
export async function filesAt(
  git: Pick<GitRepository, 'run'>,
  tree: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, TreeEntry>> {
  const asked = new Set(paths.filter(isPlainPath));
  const found = new Map<string, TreeEntry>();
  const all = [...asked];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', tree, '--', ...all.slice(at, at + AT_ONCE)];
    const listed = await git.run(args, { env: LITERAL });
    for (const [, mode = '', id = '', bytes, path = ''] of listed.matchAll(ENTRY)) {
      if (asked.has(path)) found.set(path, { mode, id, bytes: Number(bytes) });
    }
  }
  return found;
}

const ENTRY = /(\d+) \w+ ([0-9a-f]+) +(\d+|-)\t([^\0]*)\0/g;

/** `null` for what is no file, has a NUL byte, or is larger than 16 MiB. */
export async function textAt(
  git: Pick<GitRepository, 'run' | 'gitDir'>,
  tree: string,
  path: string,
): Promise<string | null> {
  if (!isPlainPath(path) || tree === EMPTY_TREE) return null;
  const loose = await looseText(git.gitDir, tree, path);
  return loose === null ? textByGit(git, tree, path) : loose.text;
}

/** {@link textAt} without a process; `null` where git has to be asked. */
async function looseText(
  gitDir: string,
  tree: string,
  path: string,
): Promise<{ readonly text: string | null } | null> {
  const entry = await looseEntry(gitDir, tree, path);
  if (entry === null) return null;
  if (entry.found === null || !FILE_MODE.test(entry.found.mode)) return { text: null };
  const blob = await looseObject(gitDir, entry.found.id);
  return blob === null ? null : { text: textOrNull(blob.content.toString('utf8')) };
}

async function textByGit(
  git: Pick<GitRepository, 'run'>,
  tree: string,
  path: string,
): Promise<string | null> {
  const entry = (await filesAt(git, tree, [path])).get(path);
  if (entry === undefined || !FILE_MODE.test(entry.mode)) return null;
  if (entry.bytes > MAX_TEXT_BYTES) return null;
  return textOrNull(await git.run(['cat-file', 'blob', entry.id]));
}

const textOrNull = (content: string): string | null => (content.includes('\0') ? null : content);

/** As trees have them; git would look for others outside of the tree. */
const isPlainPath = (path: string): boolean =>
  !path.split('/').some((part) => ['', '.', '..'].includes(part));
