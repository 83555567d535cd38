import { existsSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DevsError } from '@devs/core';
import type { GitRepository } from './GitRepository.ts';
import { looseObject, treeOfCommit } from './looseObject.ts';

/** As an old value: the ref must not exist. */
export const NO_OBJECT = '0'.repeat(40);

/** Where the run began: a commit of the user's repository. There is none in a run that began empty. */
export const BASE = 'refs/devs/base';

/** The user's commit while it is fetched. */
export const HEAD = 'refs/devs/head';

/** Points to a blob that says whose folder is the run's. It moves before anything else does: the epoch of the store. */
export const CLAIM = 'refs/devs/claim';

/** Refs that are of the machine and not of the run. */
export const notTravelling: ReadonlySet<string> = new Set([HEAD, CLAIM]);

/** SHA-1 of the tree without files. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Git holds a ref's lock for milliseconds; one that is older than this belongs to a process that was killed. */
const LOCK_STALE_MS = 2_000;

/** The commit a ref (`refs/…`) of the engine's own store points to, or `null` when there is no such ref. */
export async function readRef(git: GitRepository, name: string): Promise<string | null> {
  const loose = await looseRef(git.gitDir, name);
  return loose === null ? askForRef(git, name) : loose.id;
}

/** {@link readRef} of any repository, however it keeps its refs. */
export async function askForRef(git: GitRepository, name: string): Promise<string | null> {
  const listed = await git.run(['for-each-ref', '--format=%(refname) %(objectname)', '--', name]);
  const line = listed.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? null : line.slice(name.length + 1);
}

/** The tree of a commit. */
export async function treeOf(git: GitRepository, commit: string): Promise<string> {
  const known = git.trees.get(commit);
  if (known !== undefined) return known;
  const loose = await looseObject(git.gitDir, commit);
  const tree =
    (loose === null ? null : treeOfCommit(loose)) ??
    (await git.run(['rev-parse', `${commit}^{tree}`])).trim();
  git.trees.set(commit, tree);
  return tree;
}

/** The tree of the commit that the run began at, or was synced to; `null` for one that began empty. */
export async function givenTree(git: GitRepository): Promise<string | null> {
  const base = await readRef(git, BASE);
  return base === null ? null : treeOf(git, base);
}

/** Names of the refs in a folder (`refs/…`, without a slash at its end). */
export async function refsUnder(git: GitRepository, folder: string): Promise<readonly string[]> {
  const listed = await git.run(['for-each-ref', '--format=%(refname)', '--', `${folder}/`]);
  return listed.split('\n').filter((name) => name !== '');
}

export interface RefMove {
  readonly name: string;
  /** What it points to now; `null`: it must not exist. */
  readonly from: string | null;
  /** `null` removes it. */
  readonly to: string | null;
}

/**
 * Moves all refs or none, while the repository's guard holds. Locks left by a killed process are removed once.
 *
 * @throws DevsError `LEASE_LOST` when the guard does not hold any more.
 */
export async function moveRefs(git: GitRepository, moves: readonly RefMove[]): Promise<void> {
  const { guard } = git;
  const guarded = guard === null ? '' : `verify ${guard.name} ${guard.value ?? NO_OBJECT}\n`;
  const stdin = `start\n${guarded}${moves.map(commandOf).join('')}prepare\ncommit\n`;
  const names = [...(guard === null ? [] : [guard.name]), ...moves.map(({ name }) => name)];
  const move = async (): Promise<void> => void (await git.run(['update-ref', '--stdin'], { stdin }));
  try {
    await move();
  } catch (error) {
    if (guard !== null && (await readRef(git, guard.name)) !== guard.value) throw folderTakenOver(error);
    const removed = await Promise.all(names.map((name) => removeDeadLocks(git.gitDir, name)));
    if (!removed.includes(true)) throw error;
    await move();
  }
}

function commandOf({ name, from, to }: RefMove): string {
  if (to === null) return `delete ${name} ${from ?? NO_OBJECT}\n`;
  return `update ${name} ${to} ${from ?? NO_OBJECT}\n`;
}

/** For a driver that moved nothing, because the run is another one's. */
export function folderTakenOver(cause: unknown): DevsError {
  return new DevsError("Another process took over the run's folder.", {
    code: 'LEASE_LOST',
    remedy: 'Let that process continue, or resume the run.',
    cause,
  });
}

/** Moves a ref only if it still points to `from`; with `null`, makes it only if there is none. See {@link moveRefs}. */
export async function moveRef(
  git: GitRepository,
  name: string,
  move: Pick<RefMove, 'from' | 'to'>,
): Promise<void> {
  await moveRefs(git, [{ name, ...move }]);
}

async function removeDeadLocks(gitDir: string, name: string): Promise<boolean> {
  const locks = [join(gitDir, `${name}.lock`), join(gitDir, 'HEAD.lock')];
  const removed = await Promise.all(locks.map(removeDeadLock));
  return removed.includes(true);
}

async function removeDeadLock(lock: string): Promise<boolean> {
  const before = await stat(lock).catch(() => null);
  if (before === null) return false;
  await sleep(Math.max(0, before.mtimeMs + LOCK_STALE_MS - Date.now()));
  const after = await stat(lock).catch(() => null);
  if (after === null) return true;
  if (after.ino !== before.ino) return false;
  await rm(lock, { force: true });
  return true;
}

/** Another process has moved the branch of a run. */
export const branchMoved = (branch: string): DevsError =>
  new DevsError(`Another process moved the branch ${branch}.`, {
    code: 'WORKSPACE_BUSY',
    remedy: 'Wait until the process that runs it finishes, then resume the run.',
  });

/**
 * What a ref points to (`id`: `null` for no such ref), read from its file as git itself does, without a process: git
 * replaces the file in one rename. `null` where git has to be asked: somebody packed the refs, or the file says more.
 */
export async function looseRef(gitDir: string, name: string): Promise<{ readonly id: string | null } | null> {
  const text = await readFile(join(gitDir, name), 'latin1').catch(({ code }: NodeJS.ErrnoException) =>
    code === 'ENOENT' ? null : '',
  );
  if (text !== null) return /^[0-9a-f]{40}\n$/.test(text) ? { id: text.slice(0, 40) } : null;
  // Asked after the file: whoever packs a ref writes the pack before the file goes.
  const isAllLoose = existsSync(join(gitDir, 'HEAD')) && !existsSync(join(gitDir, 'packed-refs'));
  return isAllLoose ? { id: null } : null;
}
