// Files in the folder of a run that its tree does not hold: found, copied, removed.

import { type BigIntStats, constants } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeTree } from '../process/scratch.ts';

/** Something in the folder of a run that the tree in it does not hold: dependencies, build output, caches. */
export interface OutsideEntry {
  /** Relative to the folder. */
  readonly path: string;
  readonly kind: 'folder' | 'file' | 'link' | 'other';
  /** Permission bits. */
  readonly mode: number;
  /** Where a link leads; `null` for anything else. */
  readonly target: string | null;
  /** Differs whenever a file was written, replaced or given other rights: no program without root's rights sets its ctime. */
  readonly stamp: string;
  /** When that last happened, ns on the clock of the file system. */
  readonly changedNs: bigint;
  /** Whether other names lead to the same file. */
  readonly isShared: boolean;
}

export interface FolderToWalk {
  readonly dir: string;
  /** What the tree holds. */
  readonly held: readonly string[];
  /** Paths that are passed over, with all that is in them. */
  readonly except: readonly string[];
}

/** Every entry of the folder that the tree does not hold, a folder before what is in it. Its own `.git` is none. */
export async function outsideFiles({ dir, held, except }: FolderToWalk): Promise<readonly OutsideEntry[]> {
  const files = new Set(held);
  const folders = foldersAbove(held);
  const passed = new Set(['.git', ...except]);
  const walk = async (folder: string): Promise<readonly OutsideEntry[]> => {
    const names = await readdir(join(dir, folder));
    const paths = names.map((name) => (folder === '' ? name : `${folder}/${name}`));
    const found = await Promise.all(
      paths
        .filter((path) => !passed.has(path) && !files.has(path))
        .map(async (path) => {
          if (folders.has(path)) return walk(path);
          const entry = await entryAt(dir, path);
          return entry.kind === 'folder' ? [entry, ...(await walk(path))] : [entry];
        }),
    );
    return found.flat();
  };
  return walk('');
}

export async function entryAt(dir: string, path: string): Promise<OutsideEntry> {
  const at = join(dir, path);
  const stat = await lstat(at, { bigint: true });
  const kind = entryKind(stat);
  return {
    path,
    kind,
    mode: Number(stat.mode & 0o7777n),
    target: kind === 'link' ? await readlink(at) : null,
    stamp: [stat.ino, stat.size, stat.mode, stat.mtimeNs, stat.ctimeNs].join(' '),
    changedNs: stat.ctimeNs,
    isShared: kind === 'file' && stat.nlink > 1n,
  };
}

function entryKind(stat: BigIntStats): OutsideEntry['kind'] {
  if (stat.isDirectory()) return 'folder';
  if (stat.isSymbolicLink()) return 'link';
  return stat.isFile() ? 'file' : 'other';
}

/** Every folder around some of the paths, looked at once however many are in it. */
function foldersAbove(paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    let end = path.lastIndexOf('/');
    while (end > 0 && !folders.has(path.slice(0, end))) {
      folders.add(path.slice(0, end));
      end = path.lastIndexOf('/', end - 1);
    }
  }
  return folders;
}

/** `a/b/c` lies in `a` and `a/b`. */
export function foldersAround(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

interface EntryToCopy extends Pick<OutsideEntry, 'path' | 'kind' | 'mode' | 'target'> {
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

/** With all that is in it; folders that may not be written are opened first. */
export async function removeOutside(at: string): Promise<void> {
  await removeTree(at).catch(async () => {
    await openFolders(at);
    await removeTree(at);
  });
}

async function openFolders(at: string): Promise<void> {
  await chmod(dirname(at), 0o700);
  if (!(await lstat(at)).isDirectory()) return;
  await chmod(at, 0o700);
  for (const name of await readdir(at)) await openFolders(join(at, name));
}
