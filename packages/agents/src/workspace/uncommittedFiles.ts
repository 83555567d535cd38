import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type GitRepository, splitNul } from './GitRepository.ts';
import { filesAt } from './trees.ts';

/** A file that git stores as a program makes it of the one in the checkout: Git LFS, git-crypt. */
export interface FilteredFile {
  readonly path: string;
  /** As the attributes name it. */
  readonly filter: string;
}

/** How a checkout differs from its commit. */
export interface UncommittedFiles {
  /** Paths whose files differ, untracked ones too. */
  readonly changed: readonly string[];
  /** Those among them that go through a filter: what git would store of them only the filter can tell. */
  readonly filtered: readonly FilteredFile[];
  /** Files of which only their filter can tell whether they differ. */
  readonly unknown: readonly FilteredFile[];
}

export const NOTHING_UNCOMMITTED: UncommittedFiles = { changed: [], filtered: [], unknown: [] };

const STATUS = [
  ...['status', '--porcelain', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=all'],
] as const;

/** Of an entry of git's status: how the index differs from the commit, how the file differs from the index, and the path. */
const ENTRY = /^(.)(.) (.*[^/])$/s;

/**
 * Whether files differ is asked of git, which starts no filter; of one that goes through a filter, git does not know then.
 *
 * @param settings - See {@link checkoutSettings}.
 */
export async function uncommittedFiles(
  git: GitRepository,
  settings: readonly string[],
): Promise<UncommittedFiles> {
  const listed = (await git.run(STATUS, { settings, isLarge: true })).split('\0');
  const entries = listed.flatMap((entry) => {
    const [, index = '', file = '', path] = ENTRY.exec(entry) ?? [];
    return path === undefined ? [] : [{ path, index, file }];
  });
  const there = entries.filter(({ index, file }) => index !== 'D' && file !== 'D');
  const filters = await filtersOf(git, entryPaths(there), settings);
  const compared = there.filter(
    ({ path, index, file }) => filters.has(path) && index === ' ' && file === 'M',
  );
  const { same, unknown } = await withoutFilters(git, entryPaths(compared), filters);
  const paths = new Set(entryPaths(entries));
  const changed = [...paths].filter((path) => !same.has(path) && !unknown.has(path)).toSorted();
  const named = [...filters].map(([path, filter]) => ({ path, filter }));
  return {
    changed,
    filtered: named.filter(({ path }) => !same.has(path) && !unknown.has(path)),
    unknown: named.filter(({ path }) => unknown.has(path)),
  };
}

const entryPaths = (entries: readonly { readonly path: string }[]): readonly string[] =>
  entries.map(({ path }) => path);

/** By path: the filters that attributes of the checkout name. */
export async function filtersOf(
  git: GitRepository,
  paths: readonly string[],
  settings: readonly string[] = [],
): Promise<ReadonlyMap<string, string>> {
  if (paths.length === 0) return new Map();
  const stdin = paths.map((path) => `${path}\0`).join('');
  const told = (await git.run(['check-attr', '-z', '--stdin', 'filter'], { stdin, settings })).split('\0');
  const filters = new Map<string, string>();
  for (let at = 0; at + 2 < told.length; at += 3) {
    const [path = '', , filter = ''] = told.slice(at, at + 3);
    if (!NO_FILTER.has(filter)) filters.set(path, filter);
  }
  return filters;
}

/** How git says that an attribute names nothing. */
const NO_FILTER: ReadonlySet<string> = new Set(['unspecified', 'unset', 'set', '']);

/** Which of some files that go through a filter are the same as in the commit, and of which that is not known. */
async function withoutFilters(
  git: GitRepository,
  paths: readonly string[],
  filters: ReadonlyMap<string, string>,
): Promise<{ readonly same: ReadonlySet<string>; readonly unknown: ReadonlySet<string> }> {
  const [same, unknown] = [new Set<string>(), new Set<string>()];
  const stored = paths.length === 0 ? new Map<string, never>() : await filesAt(git, 'HEAD', paths);
  for (const path of paths) {
    const entry = stored.get(path);
    const isPointer = filters.get(path) === 'lfs' && entry !== undefined && entry.bytes <= POINTER_BYTES;
    if (!isPointer) unknown.add(path);
    else if ((await pointerId(join(git.workTree, path))) === entry.id) same.add(path);
  }
  return { same, unknown };
}

/** Git LFS has a file's hash and size in its place, and more of files that have more said of them. */
const POINTER_BYTES = 160;

/** The id of the blob that Git LFS would put in the place of a file. */
async function pointerId(file: string): Promise<string> {
  const { size } = await stat(file);
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const text = `version https://git-lfs.github.com/spec/v1\noid sha256:${hash.digest('hex')}\nsize ${size}\n`;
  return createHash('sha1').update(`blob ${text.length}\0${text}`).digest('hex');
}

/** Files of the checkout that go through a filter, as its index has them. */
export async function filteredFiles(git: GitRepository): Promise<readonly FilteredFile[]> {
  const listed = await git.run(['ls-files', '-z', '--', '.', ':(exclude,attr:!filter)']);
  const filters = await filtersOf(git, splitNul(listed));
  return [...filters].map(([path, filter]) => ({ path, filter }));
}
