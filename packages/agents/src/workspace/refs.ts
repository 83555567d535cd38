import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Author } from '@devs/core';
import type { GitRepository } from './GitRepository.ts';

/** As an old value: the ref must not exist. */
export const NO_OBJECT = '0'.repeat(40);

/** Where the run began: a commit of the user's repository. There is none in a run that began empty. */
export const BASE = 'refs/devs/base';

/** SHA-1 of the tree without files. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Git holds a ref's lock for milliseconds; one that is older than this belongs to a process that was killed. */
const LOCK_STALE_MS = 2_000;

/** Signs the commits of the engine. */
export const DEVS: Author = { name: 'devs', email: 'devs@localhost' };

/** Author and committer. */
export function signedBy({ name, email }: Author): Readonly<Record<string, string>> {
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

/** Author and committer date, whole seconds, UTC. */
export function signedAt(date: Date): Readonly<Record<string, string>> {
  const value = `@${Math.floor(date.getTime() / 1000)} +0000`;
  return { GIT_AUTHOR_DATE: value, GIT_COMMITTER_DATE: value };
}

/** The commit a ref (`refs/…`) points to, or `null` when there is no such ref. */
export async function readRef(git: GitRepository, name: string): Promise<string | null> {
  const listed = await git.run(['for-each-ref', '--format=%(refname) %(objectname)', '--', name]);
  const line = listed.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? null : line.slice(name.length + 1);
}

/** The tree of a commit. */
export async function treeOf(git: GitRepository, commit: string): Promise<string> {
  return (await git.run(['rev-parse', `${commit}^{tree}`])).trim();
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
  readonly to: string;
}

/** Moves all refs or none. Locks left by a killed process are removed once. */
export async function moveRefs(git: GitRepository, moves: readonly RefMove[]): Promise<void> {
  const lines = moves.map(({ name, from, to }) => `update ${name} ${to} ${from ?? NO_OBJECT}\n`);
  const stdin = `start\n${lines.join('')}prepare\ncommit\n`;
  try {
    await git.run(['update-ref', '--stdin'], { stdin });
  } catch (error) {
    const removed = await Promise.all(moves.map(({ name }) => removeDeadLocks(git.gitDir, name)));
    if (!removed.includes(true)) throw error;
    await git.run(['update-ref', '--stdin'], { stdin });
  }
}

/**
 * Moves a ref only if it still points to `from`; with `null`, makes it only if there is none. A lock left
 * by a killed process is removed once.
 */
export async function moveRef(
  git: GitRepository,
  name: string,
  move: { from: string | null; to: string },
): Promise<void> {
  const args = ['update-ref', name, move.to, move.from ?? NO_OBJECT];
  try {
    await git.run(args);
  } catch (error) {
    if (!(await removeDeadLocks(git.gitDir, name))) throw error;
    await git.run(args);
  }
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
