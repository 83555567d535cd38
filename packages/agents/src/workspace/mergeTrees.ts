import { DevsError } from '@devs/core';
import type { GitRepository } from './GitRepository.ts';
import { DEVS, signedAt, signedBy } from './refs.ts';

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
