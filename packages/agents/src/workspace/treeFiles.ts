import type { GitRepository } from './GitRepository.ts';

/** Bytes; a larger file is nobody's to read as text. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** Of git: a file, or a file that can be run. A link and another repository are none. */
const FILE_MODE = /^100/;

export interface TreeEntry {
  readonly mode: string;
  readonly id: string;
  /** Of a file that was asked for by its path; NaN otherwise. */
  readonly bytes: number;
}

/** Files of a tree or commit by path. @param path - All that is read, where one is given. */
export async function treeFiles(
  git: Pick<GitRepository, 'run'>,
  tree: string,
  path?: string,
): Promise<ReadonlyMap<string, TreeEntry>> {
  const listed = await git.run(
    ['ls-tree', '-r', '-z', '--full-tree', ...(path === undefined ? [tree, '--'] : ['-l', tree, '--', path])],
    { env: { GIT_LITERAL_PATHSPECS: '1' } },
  );
  const found = listed.matchAll(/(\d+) \w+ ([0-9a-f]+)(?: +(\d+|-))?\t([^\0]*)\0/g);
  return new Map(
    Array.from(found, ([, mode = '', id = '', bytes, name = '']) => {
      return [name, { mode, id, bytes: Number(bytes) }] as const;
    }),
  );
}

/** `null` for what is no file, has a NUL byte, or is larger than 16 MiB. */
export async function textAt(
  git: Pick<GitRepository, 'run'>,
  tree: string,
  path: string,
): Promise<string | null> {
  const entry = isPlain(path) ? (await treeFiles(git, tree, path)).get(path) : undefined;
  if (entry === undefined || !FILE_MODE.test(entry.mode)) return null;
  if (entry.bytes > MAX_TEXT_BYTES) return null;
  const content = await git.run(['cat-file', 'blob', entry.id]);
  return content.includes('\0') ? null : content;
}

/** As trees have them; git would look for others outside of the tree. */
const isPlain = (path: string): boolean => !path.split('/').some((part) => ['', '.', '..'].includes(part));
