import { randomUUID } from 'node:crypto';
import { chmod, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { DevsError, type FileEdit } from '@devs/core';
import { relativePath, resolveInside } from './pathJail.ts';

export interface EditTarget {
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
