// Git data of a user's repository: links to it, and settings that are plain data.

import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { GitSetting } from '../git/gitCommand.ts';
import { removeStaleScratch } from './createGitDir.ts';
import { makeFolder } from './engineFiles.ts';
import { type GitRepository, splitNul } from './GitRepository.ts';

/** Where git has what it knows of a checkout of the user's. Absolute. */
export interface UserGitDir {
  /** `HEAD` and the index of this checkout. */
  readonly own: string;
  /** Objects, branches and the configuration: of all checkouts of the repository. */
  readonly common: string;
}

/** A linked worktree, and a submodule, has a file that names its git dir; `null` where there is none. */
export async function userGitDir(root: string): Promise<UserGitDir | null> {
  const own = await gitDirNamedIn(root);
  if (own === null) return null;
  const common = await readFile(join(own, 'commondir'), 'utf8').catch(() => '.');
  return { own, common: resolve(own, common.trimEnd()) };
}

async function gitDirNamedIn(root: string): Promise<string | null> {
  const dotGit = join(root, '.git');
  const found = await stat(dotGit).catch(() => null);
  if (found === null) return null;
  if (found.isDirectory()) return dotGit;
  const [, named] = /^gitdir: (.+)$/m.exec(await readFile(dotGit, 'utf8')) ?? [];
  return named === undefined ? null : resolve(root, named);
}

/** All that git reads in the common part of a repository, but for its configuration and its hooks. */
const DATA = [
  ...['HEAD', 'objects', 'refs', 'packed-refs', 'reftable', 'logs', 'info', 'shallow', 'worktrees'],
] as const;

const SCRATCH = 'devs-user-';

/**
 * Lends a folder that git takes for the common part of the user's repository: what is in it is the user's, by links, and
 * the configuration is the engine's. So git reads and writes the user's refs and objects, and nothing that names a program.
 *
 * @param scratch - A folder that no command of an agent can write; made when missing.
 */
export async function withCommonDir<T>(
  { common }: UserGitDir,
  scratch: string,
  work: (commonDir: string) => Promise<T>,
): Promise<T> {
  await makeFolder(scratch);
  await removeStaleScratch(scratch, SCRATCH);
  const dir = await mkdtemp(join(scratch, SCRATCH));
  try {
    const from = await realpath(common);
    await Promise.all(DATA.map((name) => symlink(join(from, name), join(dir, name))));
    await writeFile(join(dir, 'config'), gitConfigText(existsSync(join(from, 'reftable'))));
    return await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** How refs are kept decides where git finds them; all else that a repository says of itself is asked for before a run. */
const gitConfigText = (isReftable: boolean): string =>
  isReftable
    ? '[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n'
    : '[core]\n\trepositoryformatversion = 0\n';

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
  return splitNul(told).map(settingIn);
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
