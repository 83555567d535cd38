import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { GitSetting } from '../git/gitCommand.ts';
import type { GitRepository } from './GitRepository.ts';
import type { UserGitDir } from './userGitDir.ts';

/** How the files of a checkout stand to what git stores of them. No program is named in any of these. */
const OF_A_CHECKOUT: ReadonlySet<string> = new Set([
  ...['core.autocrlf', 'core.eol', 'core.filemode', 'core.symlinks', 'core.ignorecase', 'core.checkstat'],
  ...['core.precomposeunicode', 'core.trustctime', 'core.sparsecheckout', 'core.sparsecheckoutcone'],
]);

/** Files of patterns, and where git finds the user's own where nothing is set. */
const PATTERNS = { 'core.attributesfile': 'attributes', 'core.excludesfile': 'ignore' } as const;

/** What the user's own configuration says, of the machine and of the user, in its order. Git tells it, and does nothing with it. */
export async function readUserSettings(git: GitRepository): Promise<readonly GitSetting[]> {
  const told = await git.run(['config', '--includes', '--show-scope', '--list', '-z'], { readsUser: true });
  const parts = told.split('\0');
  // Each with its scope before it: ours are on the command line.
  const isUsers = (at: number): boolean => parts[at - 1] === 'system' || parts[at - 1] === 'global';
  return parts.flatMap((entry, at) => (at % 2 === 1 && isUsers(at) ? [settingIn(entry)] : []));
}

/** What a repository's configuration says, by name; the files that it includes are not read. */
export async function repositorySettings(
  git: GitRepository,
  { own, common }: UserGitDir,
): Promise<ReadonlyMap<string, string>> {
  const settings = new Map(await settingsOf(git, join(common, 'config')));
  if (settings.get('extensions.worktreeconfig') !== 'true') return settings;
  return new Map([...settings, ...(await settingsOf(git, join(own, 'config.worktree')))]);
}

async function settingsOf(git: GitRepository, file: string): Promise<readonly GitSetting[]> {
  if (!(await isFile(file))) return [];
  const told = await git.run(['config', '--file', file, '--no-includes', '--list', '-z']);
  return told.split('\0').filter(Boolean).map(settingIn);
}

/** What git is told, so that it sees a checkout as its user's git does; no more than data of both configurations. */
export async function checkoutSettings(git: GitRepository, gitDir: UserGitDir): Promise<readonly string[]> {
  const user = await readUserSettings(git);
  const settings = new Map([...user, ...(await repositorySettings(git, gitDir))]);
  const plain = [...settings].filter(([name]) => OF_A_CHECKOUT.has(name));
  const files = Object.entries(PATTERNS).map(async ([name, usual]) => {
    const file = inHome(settings.get(name) ?? join(configHome(), 'git', usual));
    return (await isFile(file)) ? [`${name}=${file}`] : [];
  });
  return [...plain.map(([name, value]) => `${name}=${value}`), ...(await Promise.all(files)).flat()];
}

/** A setting without a value is true. */
function settingIn(entry: string): GitSetting {
  const end = entry.indexOf('\n');
  return end < 0 ? [entry, 'true'] : [entry.slice(0, end), entry.slice(end + 1)];
}

const configHome = (): string => process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config');

const inHome = (path: string): string => (path.startsWith('~/') ? join(homedir(), path.slice(2)) : path);

const isFile = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null))?.isFile() ?? false;
