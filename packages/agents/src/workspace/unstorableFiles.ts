// Files that a tree of a run must not hold as they lie in its folder: refused, and moved out of it.

import { lstat, mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DevsError } from '@devs/core';
import { foldersAround } from './outsideFiles.ts';
import { namedFiles } from './trees.ts';

interface Unstorable {
  /** In submodules. */
  readonly inside: readonly string[];
  /** By path, the filter. */
  readonly guarded: ReadonlyMap<string, string>;
  /** Where they lie now, if they were in the folder. */
  readonly moved?: string;
}

/** @throws DevsError `PATH_REFUSED` if there are any. */
export function refuseUnstorable({ inside, guarded, moved }: Unstorable): void {
  if (inside.length + guarded.size === 0) return;
  const filters = [...new Set(guarded.values())].join(', ');
  const reasons = [
    ...(inside.length === 0 ? [] : [`${namedFiles(inside)} (in a submodule, which a run only reads)`]),
    ...(guarded.size === 0
      ? []
      : [
          `${namedFiles([...guarded.keys()])} (kept through a git filter, ${filters}, which devs does not run)`,
        ]),
  ];
  const where = moved === undefined ? '' : ` What was changed lies in ${moved}.`;
  throw new DevsError(`These files cannot be changed in a run: ${reasons.join('; ')}.`, {
    code: 'PATH_REFUSED',
    remedy: `Leave them as they are, and change them in a checkout of your own. What setup makes belongs in a path that git ignores.${where}`,
  });
}

/**
 * Moves files, and repositories, which are named with a `/` at the end. Missing ones are passed over. A link on the way is moved
 * itself.
 *
 * @returns Where they are now.
 */
export async function moveAway(
  paths: readonly string[],
  { from, to }: { readonly from: string; readonly to: string },
): Promise<readonly string[]> {
  const moved: string[] = [];
  for (const named of paths) {
    const path = await linkOnTheWay(from, named.replace(/\/$/, ''));
    if (!(await isThere(join(from, path)))) continue;
    const target = join(to, path);
    await mkdir(dirname(target), { recursive: true });
    await rename(join(from, path), target);
    moved.push(target);
  }
  return moved;
}

/** The first part of a path that is a link; the whole path without one. */
export async function linkOnTheWay(from: string, path: string): Promise<string> {
  for (const part of foldersAround(path)) {
    if ((await lstat(join(from, part)).catch(() => null))?.isSymbolicLink()) return part;
  }
  return path;
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
