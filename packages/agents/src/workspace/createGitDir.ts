import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { replaceText } from './engineFiles.ts';
import type { GitRepository } from './GitRepository.ts';

/** A scratch folder of a killed operation is removed when it is older than this, ms. */
const STALE_MS = 60 * 60 * 1000;

export const SCRATCH_PREFIX = 'devs-index-';

// A workspace's own attributes must not change bytes between the folder and the tree (line ends, keywords,
// encodings), and its ignore rules must not bring dependencies back in.
const ATTRIBUTES = '* -text -ident -filter !eol !working-tree-encoding\n';
const EXCLUDES = 'node_modules\n';

export interface NewGitDir {
  readonly gitDir: string;
  /** Where a person finds the files, whatever folder they are in. */
  readonly link: string;
  readonly branch: string;
}

/**
 * Creates the git dir of a run, or completes one that a kill left half made. No git runs and no branch is
 * made: it begins with the run's first commit. The files are written directly, so no template, no hook and no
 * config of the machine gets in, and they are rewritten on every open.
 */
export async function createGitDir({ gitDir, link, branch }: NewGitDir): Promise<void> {
  for (const folder of ['objects', join('refs', 'heads'), 'info']) {
    await mkdir(join(gitDir, folder), { recursive: true, mode: 0o700 });
  }
  await Promise.all([
    replaceText(join(gitDir, 'HEAD'), `ref: refs/heads/${branch}\n`),
    replaceText(join(gitDir, 'config'), config(relative(gitDir, link))),
    replaceText(join(gitDir, 'info', 'attributes'), ATTRIBUTES),
    replaceText(join(gitDir, 'info', 'exclude'), EXCLUDES),
    removeStaleScratch(gitDir, SCRATCH_PREFIX),
    removePlanted(gitDir),
  ]);
}

/** A new folder belongs to its own repository from the start, not to one around it. */
export async function showFolder(git: GitRepository): Promise<void> {
  const scratch = await mkdtemp(join(git.gitDir, SCRATCH_PREFIX));
  await writeGitPointer(git, scratch);
  await rm(scratch, { recursive: true, force: true });
}

/** `worktree` is relative to the git dir, so a project folder can be moved. */
function config(worktree: string): string {
  const lines = ['repositoryformatversion = 0', 'filemode = true', 'bare = false', `worktree = ${worktree}`];
  return `[core]\n${lines.map((line) => `\t${line}\n`).join('')}`;
}

/** Files by which a git dir has its refs, objects or settings from another place. A run's store has none; a copied one may. */
const ELSEWHERE = ['commondir', 'gitdir', 'config.worktree', join('objects', 'info', 'alternates')];

/** Removes what a copied git dir may have beside what is written anew. */
export async function removePlanted(gitDir: string): Promise<void> {
  await Promise.all(ELSEWHERE.map((name) => rm(join(gitDir, name), { recursive: true, force: true })));
}

/** Removes what killed operations left in a folder. */
export async function removeStaleScratch(dir: string, prefix: string): Promise<void> {
  const names = (await readdir(dir)).filter((name) => name.startsWith(prefix));
  for (const name of names) {
    const folder = join(dir, name);
    const found = await stat(folder).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > STALE_MS)
      await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Points the folder's own `.git` at the engine's git dir, so that a git command given in the folder (the user's, or a
 * test's) works on the run and never on a repository the folder happens to lie in. The engine itself never reads it.
 *
 * @param scratch - A folder on the same file system, outside the workspace.
 */
export async function writeGitPointer({ gitDir, workTree }: GitRepository, scratch: string): Promise<void> {
  const staged = join(scratch, 'pointer');
  await writeFile(staged, `gitdir: ${relative(workTree, gitDir)}\n`);
  // Whatever a command put there goes, a repository of its own included.
  const pointer = join(workTree, '.git');
  await rm(pointer, { recursive: true, force: true });
  await rename(staged, pointer);
}
