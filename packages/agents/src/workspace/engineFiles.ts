// Folders and small files of the engine.

import { randomUUID } from 'node:crypto';
import { lstat, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DevsError } from '@devs/core';

/**
 * Makes a folder of the engine's, private to this user, unless it is there.
 *
 * @throws DevsError `WORKSPACE_FAILED` when something else, or a link, stands there.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw folderUnusable(path, error);
  }
  if (!(await isFolder(path))) throw folderUnusable(path, undefined);
}

/** A link to a folder is none. */
export async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isDirectory() ?? false;
}

export function folderUnusable(path: string, cause: unknown): DevsError {
  return new DevsError(`${path} is not a usable folder.`, {
    code: 'WORKSPACE_FAILED',
    remedy: 'Remove the existing file or make its parent folder writable, then resume the run.',
    cause,
  });
}

/** Replaces a small text file in one rename; a link that stands there is replaced, not followed. */
export async function replaceText(file: string, text: string): Promise<void> {
  const staged = `${file}.${randomUUID()}`;
  await writeFile(staged, text, { flag: 'wx' });
  await rename(staged, file);
}

/** Keeps the engine's folders out of the user's `git status` and commits; each ignores its content. */
export async function hideFromStatus(...folders: readonly string[]): Promise<void> {
  await Promise.all(folders.map((folder) => replaceText(join(folder, '.gitignore'), '*\n')));
}
