import { readdir } from 'node:fs/promises';
import { GitWorkspace } from '@devs/agents';
import { isDevsError } from '@devs/core';
import type { GitFacts } from './gitFacts.ts';

/** Paths that are named. */
const MAX_NAMED = 5;

/** Differences between the files of a run and the checkout: a sentence for each, with the setting. */
export async function projectHints(dir: string, git: Omit<GitFacts, 'keeps'>): Promise<readonly string[]> {
  const names = await readdir(dir).catch(() => []);
  const env = names.find((name) => name === '.env');
  return [
    ...(env === undefined
      ? []
      : ['.env is not passed to checks; for one that needs it, add "envFile": ".env"']),
    ...(git.isRepository ? await lfsHint(dir) : []),
    ...(git.submodules.length > 0 ? [await submodulesHint(dir, git.submodules)] : []),
  ];
}

function namedPaths(paths: readonly string[]): string {
  const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : '';
  return paths.slice(0, MAX_NAMED).join(', ') + more;
}

async function lfsHint(dir: string): Promise<readonly string[]> {
  const filtered = await new GitWorkspace({ dir, repository: dir }).filtered();
  if (filtered.length === 0) return [];
  const paths = filtered.map(({ path }) => path);
  return [
    `${namedPaths(paths)}: kept through a git filter such as Git LFS, which is not run: a run has the content of Git LFS if your clone or setup has fetched it, else what git stores, and agents cannot change it`,
  ];
}

async function submodulesHint(dir: string, submodules: readonly string[]): Promise<string> {
  try {
    await new GitWorkspace({ dir, repository: dir }).assertUsable();
  } catch (error) {
    if (!isDevsError(error)) throw error;
    return `${error.message} ${error.remedy}`;
  }
  return `${namedPaths(submodules)}: submodules; a run has their files from your clone, and agents cannot change them`;
}
