import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from './makeFolder.ts';
import {
  entryAt,
  type FolderToWalk,
  foldersAround,
  type OutsideEntry,
  outsideFiles,
} from './outsideFiles.ts';

/** What setup left: an entry as it is copied, without times. */
type SetupEntry = Pick<OutsideEntry, 'path' | 'kind' | 'mode' | 'target'> & {
  /** Of the copy: one that was touched since is no copy any more. `null` for what is no file. */
  readonly stamp: string | null;
};

/** Inputs of setup for which its result is kept: those of the work, and those before it. */
const KEPT = 2;

/** A tick takes some milliseconds; seconds on a few file systems, where files are copied again instead. */
const TICK_TRIES = 20;

/** Files that are copied at a time. */
const AT_ONCE = 16;

export interface SetupCopyOptions {
  /** Where copies are kept, outside of the folder; made when missing. */
  readonly store: string;
  /** Paths that checks may keep things in from one to the next. */
  readonly caches: readonly string[];
}

/**
 * What the setup command left outside of the tree, kept as a copy, and the folder made equal to it again. Files share no
 * storage that a write would change: clones of the file system, or copies.
 */
export class SetupCopy {
  readonly #store: string;
  readonly #caches: readonly string[];

  constructor({ store, caches }: SetupCopyOptions) {
    this.#store = store;
    this.#caches = caches;
  }

  /** Whether the result of setup is kept for these inputs. */
  async has(key: string): Promise<boolean> {
    return (await this.#entries(key)) !== null;
  }

  async isEmpty(): Promise<boolean> {
    return (await readdir(this.#store).catch(() => [])).every((name) => !/^[0-9a-f]{64}$/.test(name));
  }

  /** Keeps what lies outside of the tree by now, as what setup leaves for these inputs. */
  async capture(key: string, folder: Folder): Promise<void> {
    await makeFolder(this.#store);
    const staged = join(this.#store, `.${randomUUID()}`);
    try {
      const found = await this.#outside(folder);
      await mkdir(join(staged, 'files'), { recursive: true });
      const kept = found.filter(({ kind }) => kind !== 'other');
      await copyAll(kept, { from: folder.dir, to: join(staged, 'files') });
      const entries = await Promise.all(kept.map((entry) => setupEntry(entry, join(staged, 'files'))));
      await writeFile(join(staged, 'entries.json'), JSON.stringify(entries));
      await rm(join(this.#store, key), { recursive: true, force: true });
      await rename(staged, join(this.#store, key));
    } finally {
      await rm(staged, { recursive: true, force: true });
    }
    await this.#forget(key);
    await this.#remember(folder);
  }

  /**
   * Makes everything outside of the tree as it was captured; with `null`, removes it.
   *
   * @returns False when the copy is not what it was: then nothing can be said, and it is forgotten.
   */
  async restore(key: string | null, folder: Folder): Promise<boolean> {
    const entries = key === null ? [] : await this.#entries(key);
    if (entries === null) return false;
    const files = key === null ? '' : join(this.#store, key, 'files');
    const wanted = new Map(fitting(entries, folder).map((entry) => [entry.path, entry]));
    const stamps = await this.#stamps();
    const found = await this.#outside(folder);
    const isAsLeft = (entry: OutsideEntry): boolean => isLike(entry, wanted.get(entry.path), stamps);
    const other = found.filter((entry) => !isAsLeft(entry));
    const removed = new Set(other.map(({ path }) => path));
    await removeAll(
      [...removed].filter((path) => !foldersAround(path).some((at) => removed.has(at))),
      folder.dir,
    );
    const there = new Set(
      found
        .map(({ path }) => path)
        .filter((path) => ![path, ...foldersAround(path)].some((at) => removed.has(at))),
    );
    const missing = [...wanted.values()].filter(({ path }) => !there.has(path));
    if (other.length === 0 && missing.length === 0) return true;
    if (!(await areIntact(missing, files))) {
      await rm(join(this.#store, key ?? ''), { recursive: true, force: true });
      return false;
    }
    await copyAll(missing, { from: files, to: folder.dir });
    await this.#remember(folder);
    return true;
  }

  #outside(folder: Folder): Promise<readonly OutsideEntry[]> {
    return outsideFiles({ ...folder, except: this.#caches });
  }

  async #entries(key: string): Promise<readonly SetupEntry[] | null> {
    const text = await readFile(join(this.#store, key, 'entries.json'), 'utf8').catch(() => null);
    return text === null ? null : (JSON.parse(text) as SetupEntry[]);
  }

  /**
   * Remembers the files as they are now, once the clock of the file system has moved on: a later change then has another
   * time. One that has the time of now is not remembered, nor one with other names: it could be written by one of them.
   */
  async #remember(folder: Folder): Promise<void> {
    const file = join(this.#store, 'stamps.json');
    await makeFolder(this.#store);
    const now = await nextTick(file);
    const settled = (await this.#outside(folder)).filter(
      ({ kind, changedNs, isShared }) => kind === 'file' && changedNs < now && !isShared,
    );
    await writeFile(file, JSON.stringify(settled.map(({ path, stamp }) => [path, stamp])));
  }

  async #stamps(): Promise<ReadonlyMap<string, string>> {
    const text = await readFile(join(this.#store, 'stamps.json'), 'utf8').catch(() => '');
    return new Map(text === '' ? [] : (JSON.parse(text) as [string, string][]));
  }

  /** Keeps the newest results, and drops what a kill left half made. */
  async #forget(newest: string): Promise<void> {
    const names = (await readdir(this.#store)).filter((name) => name !== newest && name !== 'stamps.json');
    const times = await Promise.all(names.map(async (name) => (await stat(join(this.#store, name))).mtimeMs));
    const byAge = names
      .map((name, index) => ({ name, time: name.startsWith('.') ? 0 : (times[index] ?? 0) }))
      .toSorted((a, b) => b.time - a.time);
    const due = byAge.filter(({ time }, index) => time === 0 || index >= KEPT - 1);
    for (const { name } of due) await rm(join(this.#store, name), { recursive: true, force: true });
  }
}

type Folder = Pick<FolderToWalk, 'dir' | 'held'>;

async function setupEntry({ path, kind, mode, target }: OutsideEntry, files: string): Promise<SetupEntry> {
  const stamp = kind === 'file' ? (await entryAt(files, path)).stamp : null;
  return { path, kind, mode, target, stamp };
}

/** The time of a file that is written after a tick of its file system's clock, ns; sooner where that is a slow one. */
async function nextTick(file: string): Promise<bigint> {
  const write = async (): Promise<bigint> => {
    await writeFile(file, '');
    return (await stat(file, { bigint: true })).ctimeNs;
  };
  const first = await write();
  let now = first;
  for (let tries = 0; now === first && tries < TICK_TRIES; tries += 1) {
    await sleep(1);
    now = await write();
  }
  return now;
}

/** What the tree holds by now comes from the tree, and what lies in it or around it gives way. */
function fitting(entries: readonly SetupEntry[], { held }: Folder): readonly SetupEntry[] {
  const files = new Set(held);
  const folders = new Set(held.flatMap(foldersAround));
  return entries.filter(
    ({ path }) => ![path, ...foldersAround(path)].some((at) => files.has(at)) && !folders.has(path),
  );
}

function isLike(
  entry: OutsideEntry,
  wanted: SetupEntry | undefined,
  stamps: ReadonlyMap<string, string>,
): boolean {
  if (wanted === undefined || wanted.kind !== entry.kind) return false;
  if (entry.kind === 'link') return entry.target === wanted.target;
  if (entry.mode !== wanted.mode) return false;
  return entry.kind === 'folder' || stamps.get(entry.path) === entry.stamp;
}

async function areIntact(entries: readonly SetupEntry[], files: string): Promise<boolean> {
  const intact = await Promise.all(
    entries.map(async ({ path, kind, stamp }) => {
      if (kind !== 'file') return true;
      return (await entryAt(files, path).catch(() => null))?.stamp === stamp;
    }),
  );
  return !intact.includes(false);
}

/** With all that is in them; folders that may not be written are opened first. */
async function removeAll(paths: readonly string[], dir: string): Promise<void> {
  for (const path of paths) {
    const at = join(dir, path);
    await rm(at, { recursive: true, force: true }).catch(async () => {
      await openFolders(at);
      await rm(at, { recursive: true, force: true });
    });
  }
}

async function openFolders(at: string): Promise<void> {
  await chmod(dirname(at), 0o700);
  if (!(await lstat(at)).isDirectory()) return;
  await chmod(at, 0o700);
  for (const name of await readdir(at)) await openFolders(join(at, name));
}

interface CopyBetween {
  readonly from: string;
  readonly to: string;
}

type EntryToCopy = Pick<OutsideEntry, 'path' | 'kind' | 'mode' | 'target'>;

/** Folders get their rights last, or nothing could be put into some. */
async function copyAll(entries: readonly EntryToCopy[], between: CopyBetween): Promise<void> {
  const folders = entries.filter(({ kind }) => kind === 'folder');
  for (const { path } of folders) await mkdir(join(between.to, path), { recursive: true });
  const others = entries.filter(({ kind }) => kind !== 'folder');
  for (let at = 0; at < others.length; at += AT_ONCE) {
    await Promise.all(others.slice(at, at + AT_ONCE).map((entry) => copyOne(entry, between)));
  }
  for (const { path, mode } of folders.toReversed()) await chmod(join(between.to, path), mode);
}

async function copyOne({ path, mode, target }: EntryToCopy, { from, to }: CopyBetween): Promise<void> {
  const file = join(to, path);
  await mkdir(dirname(file), { recursive: true });
  if (target !== null) return symlink(target, file);
  const { atime, mtime } = await stat(join(from, path));
  await copyFile(join(from, path), file, constants.COPYFILE_FICLONE);
  await chmod(file, mode);
  await utimes(file, atime, mtime);
}
