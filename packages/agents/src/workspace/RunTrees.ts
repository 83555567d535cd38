import type { TreeDiff } from '@devs/core';
import { CommitDiff } from './CommitDiff.ts';
import type { GitRepository } from './GitRepository.ts';
import { NO_OBJECT } from './refs.ts';

/** Bytes; a larger file is nobody's to read as text. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** Of git: a file, or a file that can be run. A link and another repository are none. */
const FILE_MODE = /^100/;

interface TreeEntry {
  readonly mode: string;
  readonly id: string;
  /** Of a file that was asked for by its path; NaN otherwise. */
  readonly bytes: number;
}

/**
 * The stored trees of one run: combined, compared, read. Neither the folder nor a ref is looked at, and no attribute of
 * the trees is asked: what is in them is data.
 */
export class RunTrees {
  readonly #git: GitRepository;
  readonly #withIndex: <T>(work: (indexFile: string) => Promise<T>) => Promise<T>;

  /** @param withIndex - Lends the path of an index that nobody else uses. */
  constructor(git: GitRepository, withIndex: <T>(work: (indexFile: string) => Promise<T>) => Promise<T>) {
    this.#git = git;
    this.#withIndex = withIndex;
  }

  /** `base` with these paths as `from` has them. A file takes the place of a folder of its name, and the other way. */
  overlay(base: string, from: string, paths: readonly string[]): Promise<string> {
    return this.#withIndex(async (indexFile) => {
      const entries = await this.#entries(from);
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
  async compare(from: string, to: string, maxBytes: number): Promise<TreeDiff> {
    const diff = new CommitDiff(this.#git);
    const range = { from, to };
    const files = await diff.files(range);
    return { files, diff: maxBytes === 0 || files.length === 0 ? '' : await diff.textUpTo(range, maxBytes) };
  }

  /** `null` for what is no file, has a NUL byte, or is larger than 16 MiB. */
  async readAt(tree: string, path: string): Promise<string | null> {
    const entry = isPlain(path) ? (await this.#entries(tree, path)).get(path) : undefined;
    if (entry === undefined || !FILE_MODE.test(entry.mode)) return null;
    if (entry.bytes > MAX_TEXT_BYTES) return null;
    const content = await this.#git.run(['cat-file', 'blob', entry.id]);
    return content.includes('\0') ? null : content;
  }

  /** Files of a tree by path. @param path - All that is read, where one is given. */
  async #entries(tree: string, path?: string): Promise<ReadonlyMap<string, TreeEntry>> {
    const listed = await this.#git.run(
      [
        'ls-tree',
        '-r',
        '-z',
        '--full-tree',
        ...(path === undefined ? [tree, '--'] : ['-l', tree, '--', path]),
      ],
      { env: { GIT_LITERAL_PATHSPECS: '1' } },
    );
    const found = listed.matchAll(/(\d+) \w+ ([0-9a-f]+)(?: +(\d+|-))?\t([^\0]*)\0/g);
    return new Map(
      Array.from(found, ([, mode = '', id = '', bytes, name = '']) => {
        return [name, { mode, id, bytes: Number(bytes) }] as const;
      }),
    );
  }
}

/** As trees have them; git would look for others outside of the tree. */
const isPlain = (path: string): boolean => !path.split('/').some((part) => ['', '.', '..'].includes(part));
