import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from './engineFiles.ts';
import { GitIndex } from './GitIndex.ts';
import { type GitRepository, splitNul } from './GitRepository.ts';
import type { Submodule, UserRepository } from './UserRepository.ts';

export interface SubmoduleFilesOptions {
  /** The folder of the run. */
  readonly dir: string;
  /** Where indexes of the submodules are kept, outside of it. */
  readonly kept: string;
  /** @defaultValue without submodules */
  readonly user?: UserRepository | null | undefined;
}

/**
 * The files of submodules in the folder of a run, as the user's own clone has them: read, not stored. Trees of the run keep
 * the recorded commit of each.
 */
export class SubmoduleFiles {
  readonly #dir: string;
  readonly #kept: string;
  readonly #user: UserRepository | null;
  #found: { readonly key: string; readonly submodules: Promise<readonly Submodule[]> } | null = null;

  constructor({ dir, kept, user }: SubmoduleFilesOptions) {
    this.#dir = dir;
    this.#kept = join(kept, 'submodules');
    this.#user = user ?? null;
  }

  /** Makes all files of the submodules as their commits have them. Other files stay. */
  async put(links: ReadonlyMap<string, string>): Promise<void> {
    for (const submodule of await this.#of(links)) {
      await this.#makeFolder(submodule.path);
      await this.#in(submodule, async (git, indexFile) => {
        const due = await git.run(CHANGED, { indexFile });
        if (due === '') return;
        await git.run(['checkout-index', '--force', '--index', '-z', '--stdin'], {
          indexFile,
          stdin: due,
          isLarge: true,
        });
      });
    }
  }

  /**
   * Paths that are not as the commits have them; one that ends in `/` is a git dir that somebody made there. Empty for a submodule
   * that is not checked out any more: {@link put} refuses it.
   */
  async changed(links: ReadonlyMap<string, string>): Promise<readonly string[]> {
    const found: string[] = [];
    for (const submodule of await this.#of(links).catch(() => [])) {
      const { path } = submodule;
      if (!(await this.#isFolder(path))) {
        found.push(path);
        continue;
      }
      if (existsSync(join(this.#dir, path, '.git'))) found.push(`${path}/.git/`);
      const listed = await this.#in(submodule, (git, indexFile) => git.run(CHANGED, { indexFile }));
      found.push(...splitNul(listed).map((name) => `${path}/${name}`));
    }
    return found;
  }

  /** All files of the submodules. */
  async paths(links: ReadonlyMap<string, string>): Promise<readonly string[]> {
    const found: string[] = [];
    for (const { path, ...submodule } of await this.#of(links)) {
      const index = await this.#in({ path, ...submodule }, (_, indexFile) => GitIndex.read(indexFile));
      found.push(...index.files.map((file) => `${path}/${file.path}`));
    }
    return found;
  }

  #of(links: ReadonlyMap<string, string>): Promise<readonly Submodule[]> {
    if (links.size === 0 || this.#user === null) return Promise.resolve([]);
    const key = JSON.stringify([...links]);
    if (this.#found?.key !== key) this.#found = { key, submodules: this.#user.submodules(links) };
    return this.#found.submodules;
  }

  /** With the index of the files that were put there. */
  async #in<T>(
    { path, commit, repository }: Submodule,
    work: (git: GitRepository, indexFile: string) => Promise<T>,
  ): Promise<T> {
    const name = createHash('sha256').update(`${path}\0${commit}`).digest('hex').slice(0, 32);
    const indexFile = join(this.#kept, name);
    await makeFolder(this.#kept);
    const isWhole = await GitIndex.read(indexFile).then(
      () => true,
      () => false,
    );
    if (!isWhole)
      await repository.inFolder(repository.root, (git) => git.run(['read-tree', commit], { indexFile }));
    return repository.inFolder(join(this.#dir, path), (git) => work(git, indexFile));
  }

  /** Replaces links, which could lead out of the folder. */
  async #makeFolder(path: string): Promise<void> {
    for (const at of foldersTo(path)) {
      const found = await lstat(join(this.#dir, at)).catch(() => null);
      if (found !== null && !found.isDirectory()) await rm(join(this.#dir, at), { force: true });
      await mkdir(join(this.#dir, at), { recursive: true });
    }
  }

  async #isFolder(path: string): Promise<boolean> {
    for (const at of foldersTo(path)) {
      const found = await lstat(join(this.#dir, at)).catch(() => null);
      if (found === null || !found.isDirectory()) return false;
    }
    return true;
  }
}

const CHANGED = ['ls-files', '-z', '--modified', '--deduplicate'] as const;

/** `a`, `a/b`, `a/b/c`. */
const foldersTo = (path: string): readonly string[] =>
  path.split('/').map((_, at, parts) => parts.slice(0, at + 1).join('/'));
