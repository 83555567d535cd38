// Stored trees: their files, read, combined, compared and merged without a folder.

import { DevsError } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import { CommitDiff } from './CommitDiff.ts';
import { DEVS, signedAt, signedBy } from './commits.ts';
import type { GitRepository } from './GitRepository.ts';
import { looseEntry, looseObject } from './looseObject.ts';
import { EMPTY_TREE, NO_OBJECT } from './refs.ts';

/** Bytes; a larger file is nobody's to read as text. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** Of git: a file, or a file that can be run. A link and another repository are none. */
const FILE_MODE = /^100/;

interface TreeEntry {
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

/**
 * The stored trees of one run: combined, compared, read. Neither the folder nor a ref is looked at, and no attribute of
 * the trees is asked: what is in them is data.
 */
export class RunTrees {
  readonly #git: GitRepository;
  readonly #withIndex: <T>(work: (indexFile: string) => Promise<T>) => Promise<T>;
  /** What was compared last: trees stay as they are, and a turn asks for the same two several times. */
  #compared: WorkspacePort.CommitRange & { readonly files: readonly WorkspacePort.FileChange[] } = {
    from: '',
    to: '',
    files: [],
  };

  /** @param withIndex - Lends the path of an index that nobody else uses. */
  constructor(git: GitRepository, withIndex: <T>(work: (indexFile: string) => Promise<T>) => Promise<T>) {
    this.#git = git;
    this.#withIndex = withIndex;
  }

  /** `base` with these paths as `from` has them. A file takes the place of a folder of its name, and the other way. */
  overlay(base: string, from: string, paths: readonly string[]): Promise<string> {
    return this.#withIndex(async (indexFile) => {
      const entries = await filesAt(this.#git, from, paths);
      const named = [...new Set(paths)].map((path) => ({ path, entry: entries.get(path) }));
      const lines = named.toSorted((a, b) => Number(a.entry !== undefined) - Number(b.entry !== undefined));
      const stdin = lines
        .map(({ path, entry: { mode, id } = { mode: '0', id: NO_OBJECT } }) => `${mode} ${id}\t${path}\0`)
        .join('');
      await this.#git.run(['read-tree', base], { indexFile });
      if (stdin !== '') {
        await this.#git.run(['update-index', '--replace', '-z', '--index-info'], { indexFile, stdin });
      }
      return (await this.#git.run(['write-tree'], { indexFile })).trim();
    });
  }

  /** @param maxBytes - Of the text, as UTF-8. */
  async compare(from: string, to: string, maxBytes: number): Promise<WorkspacePort.TreeDiff> {
    if (from === to) return { files: [], diff: '' };
    const diff = new CommitDiff(this.#git);
    const range = { from, to };
    const last = this.#compared;
    const files = last.from === from && last.to === to ? last.files : await diff.files(range);
    this.#compared = { ...range, files };
    return { files, diff: maxBytes === 0 || files.length === 0 ? '' : await diff.textUpTo(range, maxBytes) };
  }

  /** `null` for what is no file, has a NUL byte, or is larger than 16 MiB. */
  async readAt(tree: string, path: string): Promise<string | null> {
    return textAt(this.#git, tree, path);
  }
}

export interface TreesToMerge {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

/** The merged tree, or the files that both sides changed in ways that do not fit together. */
export type MergedTree = { readonly tree: string } | { readonly conflicts: readonly string[] };

const ENV = { ...signedBy(DEVS), ...signedAt(new Date(0)) };

/**
 * Merges three trees without a folder or an index.
 *
 * Git looks for the base in the history, so the trees are given one that has exactly this base.
 *
 * @throws DevsError `WORKSPACE_FAILED` with a git before 2.38, which cannot do it.
 */
export async function mergeTrees(
  git: GitRepository,
  { base, ours, theirs }: TreesToMerge,
): Promise<MergedTree> {
  if (base === theirs || ours === theirs) return { tree: ours };
  if (base === ours) return { tree: theirs };
  const commit = async (tree: string, ...parent: readonly string[]): Promise<string> =>
    (await git.run(['commit-tree', tree, ...parent, '-m', 'For a merge'], { env: ENV })).trim();
  const root = await commit(base);
  const sides = [await commit(ours, '-p', root), await commit(theirs, '-p', root)];
  await requireMergeTree(git);
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ...sides];
  const [tree = '', ...names] = (await git.run(args, { answers: [0, 1] })).split('\0');
  const conflicts = names.filter((name) => name !== '');
  return conflicts.length === 0 ? { tree } : { conflicts };
}

/** The version that brought `merge-tree --write-tree`. */
const NEEDED = [2, 38] as const;

async function requireMergeTree(git: GitRepository): Promise<void> {
  const text = await git.run(['version']);
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(text) ?? [];
  const [neededMajor, neededMinor] = NEEDED;
  const isNew =
    Number(major) > neededMajor || (Number(major) === neededMajor && Number(minor) >= neededMinor);
  if (isNew) return;
  throw new DevsError(`${text.trim()} cannot merge without a checkout.`, {
    code: 'WORKSPACE_FAILED',
    remedy: 'Install git 2.38 or newer.',
  });
}

/** Named in a message; the rest is counted. */
const NAMED = 10;

/** Files in words, for a message. */
export function namedFiles(files: readonly string[]): string {
  const more = files.length > NAMED ? ` and ${files.length - NAMED} more` : '';
  return files.slice(0, NAMED).join(', ') + more;
}
