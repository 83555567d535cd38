import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { OutsideEntry } from './outsideFiles.ts';

export interface EntryToCopy extends Pick<OutsideEntry, 'path' | 'kind' | 'mode' | 'target'> {
  /** Of the bytes of a file, one character each. @defaultValue they are copied */
  readonly rewrite?: (text: string) => string;
}

interface CopyBetween {
  readonly from: string;
  readonly to: string;
}

/** Files that are copied at a time. */
const AT_ONCE = 16;

/** Folders come before what is in them, and get their rights last, or nothing could be put into some. */
export async function copyEntries(entries: readonly EntryToCopy[], between: CopyBetween): Promise<void> {
  const folders = entries.filter(({ kind }) => kind === 'folder');
  for (const { path } of folders) await mkdir(join(between.to, path), { recursive: true });
  const others = entries.filter(({ kind }) => kind !== 'folder');
  for (let at = 0; at < others.length; at += AT_ONCE) {
    await Promise.all(others.slice(at, at + AT_ONCE).map((entry) => copyOne(entry, between)));
  }
  for (const { path, mode } of folders.toReversed()) await chmod(join(between.to, path), mode);
}

async function copyOne(
  { path, mode, target, rewrite }: EntryToCopy,
  { from, to }: CopyBetween,
): Promise<void> {
  const file = join(to, path);
  await mkdir(dirname(file), { recursive: true });
  if (target !== null) return symlink(target, file);
  const { atime, mtime } = await stat(join(from, path));
  if (rewrite === undefined) await copyFile(join(from, path), file, constants.COPYFILE_FICLONE);
  else await writeFile(file, rewrite(await readFile(join(from, path), 'latin1')), 'latin1');
  await chmod(file, mode);
  await utimes(file, atime, mtime);
}
