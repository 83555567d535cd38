import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { removeStaleScratch } from './createGitDir.ts';
import { makeFolder } from './makeFolder.ts';

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
