// Edits of an agent: refused where a tree of the run would not hold them, then written.

import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { DevsError, type FileEdit } from '@devs/core';
import { GitRepository, splitNul } from './GitRepository.ts';
import { relativePath, resolveInside } from './pathJail.ts';

/** Left out of every tree, whatever the ignore rules say; a forgiving file system has it in any case. */
const isDependencies = (name: string): boolean => name.toLowerCase() === 'node_modules';

/** Paths are taken as they are, not as patterns. */
const LITERAL = { GIT_LITERAL_PATHSPECS: '1' } as const;

/** Some of the paths are ignored, or none is. */
const SOME_OR_NONE = [0, 1] as const;

interface ProposedEdits {
  readonly git: GitRepository;
  /** In a scratch folder of its own. */
  readonly indexFile: string;
  /** Reads the branch into that index: what is in it stays known even where it is ignored. */
  readonly readTip: () => Promise<void>;
  /** By the one spelling of each path, see `relativePath`. */
  readonly edits: readonly FileEdit[];
}

/**
 * Refuses edits that the run's trees would not hold: no diff would show them and no restore would take them back, while
 * the checks would run on them. The ignore rules are those that hold once the edits are made.
 *
 * @throws DevsError `PATH_REFUSED`
 */
export async function assertTracked(proposed: ProposedEdits): Promise<void> {
  const { git, edits } = proposed;
  const paths = edits.map(({ path }) => path);
  for (const path of paths) {
    if (path.split('/').some(isDependencies))
      throw untrackedPath(path, 'installed dependencies are no part of it');
  }
  const folders = [...new Set(paths.flatMap(foldersTo))];
  for (const folder of folders) {
    if (folder === '' || !(await pathExists(join(git.workTree, folder, '.git')))) continue;
    const inside = paths.find((path) => path.startsWith(`${folder}/`)) ?? folder;
    throw untrackedPath(inside, `${JSON.stringify(folder)} is a repository of its own`);
  }
  const [ignored] = await ignoredOf(paths, proposed, folders);
  if (ignored !== undefined) throw untrackedPath(ignored, 'it is ignored by git');
}

/** Judged in a folder that has the ignore files alone, as they will be. */
async function ignoredOf(
  paths: readonly string[],
  { git, indexFile, readTip, edits }: ProposedEdits,
  folders: readonly string[],
): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const rules = await mkdtemp(join(dirname(indexFile), 'rules-'));
  for (const folder of folders) {
    const name = folder === '' ? '.gitignore' : `${folder}/.gitignore`;
    const proposed = edits.find(({ path }) => path === name);
    const text =
      proposed === undefined ? await readFileIfRegular(join(git.workTree, name)) : proposed.content;
    if (text === null) continue;
    await mkdir(join(rules, folder), { recursive: true });
    await writeFile(join(rules, name), text);
  }
  const judge = new GitRepository({ gitDir: git.gitDir, workTree: rules });
  const listed = await judge.run(['check-ignore', '--no-index', '-z', '--stdin'], {
    stdin: paths.map((path) => `${path}\0`).join(''),
    answers: SOME_OR_NONE,
  });
  const ignored = splitNul(listed);
  if (ignored.length === 0) return [];
  await readTip();
  const known = new Set(
    splitNul(await git.run(['ls-files', '-z', '--', ...ignored], { indexFile, env: LITERAL })),
  );
  return ignored.filter((path) => !known.has(path));
}

/** The top and every folder on the way to a path, as `a/b`. */
function foldersTo(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index).join('/'));
}

/** Git follows no link to an ignore file. */
async function readFileIfRegular(file: string): Promise<Buffer | null> {
  const found = await lstat(file).catch(() => null);
  return found?.isFile() ? readFile(file) : null;
}

async function pathExists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function untrackedPath(path: string, reason: string): DevsError {
  return new DevsError(
    `The path ${JSON.stringify(path)} is refused: the run's trees do not hold it, ${reason}.`,
    {
      code: 'PATH_REFUSED',
      remedy: 'Propose files that git keeps; dependencies and build output are made by the setup command.',
    },
  );
}

interface EditTarget {
  /** The workspace, absolute. */
  readonly root: string;
  /** A folder outside the workspace on the same file system: a kill leaves half a file there, never inside. */
  readonly staging: string;
  /** Rejects for edits that may not be made; asked once all paths are known to lie inside. */
  readonly judge: (edits: readonly FileEdit[]) => Promise<void>;
}

interface PlannedEdit {
  readonly file: string;
  readonly content: string | null;
}

/**
 * Writes or removes whole files. Every path is checked before the first one is written, each file is replaced
 * in one rename, and the mode of a replaced file is kept.
 *
 * @throws DevsError `PATH_REFUSED` before anything is written.
 */
export async function applyEdits(target: EditTarget, edits: readonly FileEdit[]): Promise<void> {
  const planned = await plannedEdits(target.root, edits);
  await target.judge(edits.map(({ path, content }) => ({ path: relativePath(path), content })));
  for (const { file, content } of planned) {
    if (content === null) await rm(file, { force: true });
    else await replaceFile(target.staging, file, content);
  }
}

async function plannedEdits(root: string, edits: readonly FileEdit[]): Promise<readonly PlannedEdit[]> {
  const planned = await Promise.all(
    edits.map(async ({ path, content }) => ({ file: await resolveInside(root, path), content })),
  );
  const files = new Set<string>();
  for (const { file } of planned) {
    if (files.has(file)) throw editConflict(root, file, 'is edited twice');
    files.add(file);
  }
  for (const file of files) {
    for (let folder = dirname(file); folder.length > root.length; folder = dirname(folder)) {
      if (files.has(folder)) throw editConflict(root, folder, 'is used as a file and as a folder');
    }
  }
  return planned;
}

async function replaceFile(staging: string, file: string, content: string): Promise<void> {
  await Promise.all([
    mkdir(staging, { recursive: true, mode: 0o700 }),
    mkdir(dirname(file), { recursive: true }),
  ]);
  const staged = join(staging, randomUUID());
  try {
    await writeFile(staged, content, { flag: 'wx' });
    const old = await stat(file).catch(() => null);
    if (old !== null) await chmod(staged, old.mode & 0o777);
    await rename(staged, file);
  } finally {
    await rm(staged, { force: true });
  }
}

function editConflict(root: string, file: string, what: string): DevsError {
  const path = file.slice(root.length + sep.length);
  return new DevsError(`The path ${JSON.stringify(path)} ${what} in one proposal.`, {
    code: 'PATH_REFUSED',
    remedy: 'Propose each file once, with its whole content.',
  });
}
