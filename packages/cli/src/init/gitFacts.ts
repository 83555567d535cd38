import { existsSync } from 'node:fs';
import path from 'node:path';
import { askGit } from '@devs/agents/internal';
import { repositoryAround } from '../config/repositoryAround.ts';

/** The files that git has of a folder, as a run would get them. */
export interface GitFacts {
  readonly isRepository: boolean;
  /** Top folder of the repository that the folder lies in, where that is another one. */
  readonly inRepository: string | null;
  /** False before the first commit, and without a repository. */
  readonly hasCommit: boolean;
  /** A branch of this name is in the way of those of runs, `devs/RUN`. */
  readonly hasDevsBranch: boolean;
  /** Paths of the commit that are repositories of their own. */
  readonly submodules: readonly string[];
  /** Which of some files of the folder a run would have: those of the commit, else those that git does not ignore. */
  readonly keeps: (files: readonly string[]) => Promise<readonly string[]>;
}

/** @throws the error of git where there is a repository and git cannot be asked. */
export async function gitFacts(root: string): Promise<GitFacts> {
  const around = repositoryAround(root);
  const isRepository = around === root;
  const there = (files: readonly string[]): readonly string[] =>
    files.filter((file) => existsSync(path.join(root, file)));
  if (!isRepository) {
    const none = { hasCommit: false, hasDevsBranch: false, submodules: [] };
    return { isRepository, inRepository: around, ...none, keeps: async (files) => there(files) };
  }
  const ask = (...args: readonly string[]): Promise<string> =>
    askGit(args, { cwd: root, settings: ['safe.directory=*'] });
  const isThere = (ref: string): Promise<boolean> =>
    ask('rev-parse', '--quiet', '--verify', ref).then(
      () => true,
      () => false,
    );
  const hasCommit = await isThere('HEAD^{commit}');
  return {
    isRepository,
    inRepository: null,
    hasCommit,
    hasDevsBranch: await isThere('refs/heads/devs'),
    submodules: hasCommit ? submodulesIn(await ask('ls-tree', '-r', '-z', 'HEAD')) : [],
    keeps: async (files) => {
      const found = there(files);
      if (found.length === 0) return [];
      const listed = hasCommit
        ? await ask('ls-tree', '-z', '--name-only', 'HEAD', '--', ...found)
        : await ask('ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...found);
      const kept = new Set(listed.split('\0'));
      return found.filter((file) => kept.has(file));
    },
  };
}

const submodulesIn = (listing: string): readonly string[] =>
  listing
    .split('\0')
    .filter((entry) => entry.startsWith('160000 '))
    .map((entry) => entry.slice(entry.indexOf('\t') + 1));
