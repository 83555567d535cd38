import { readdir } from 'node:fs/promises';
import { GitWorkspace } from '@devs/agents';
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
  ];
}

async function lfsHint(dir: string): Promise<readonly string[]> {
  const filtered = await new GitWorkspace({ dir, repository: dir }).filtered();
  if (filtered.length === 0) return [];
  const paths = filtered.slice(0, MAX_NAMED).map(({ path }) => path);
  const more = filtered.length > MAX_NAMED ? ` and ${filtered.length - MAX_NAMED} more` : '';
  return [
    `${paths.join(', ')}${more}: kept through a git filter such as Git LFS, so a run has what git stores (a pointer) and not the content; a check that reads it needs a setup that fetches it`,
  ];
}
