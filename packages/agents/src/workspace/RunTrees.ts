import type { WorkspacePort } from '@devs/core/internal';
import { CommitDiff } from './CommitDiff.ts';
import { filesAt, textAt } from './filesAt.ts';
import type { GitRepository } from './GitRepository.ts';
import { NO_OBJECT } from './refs.ts';

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
