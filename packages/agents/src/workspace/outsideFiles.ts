import type { BigIntStats } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

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
