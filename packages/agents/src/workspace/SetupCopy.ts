import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from './engineFiles.ts';
import {
  type FolderToWalk,
  foldersAround,
  type OutsideEntry,
  outsideFiles,
  removeOutside,
} from './outsideFiles.ts';
import { folderName, type KeptSetup, renamed, type SetupEntry, SetupStore } from './SetupStore.ts';

/** Inputs of setup for which its result is kept: those of the work, and those before it. */
const OWN: { readonly newest: number; readonly inUse: ReadonlySet<string>; readonly youngMs: number } = {
  newest: 2,
  inUse: new Set(),
  youngMs: 0,
};

/** A tick takes some milliseconds; seconds on a few file systems, where files are copied again instead. */
const TICK_TRIES = 20;

export interface SetupCopyOptions {
  /** Where copies of this folder, and what is known of it, are kept, outside of it; made when missing. */
  readonly kept: string;
  /** Paths that checks may keep things in from one to the next. */
  readonly caches: readonly string[];
}

/** A copy of a store that other folders use, too. */
export interface SharedCopy {
  readonly store: SetupStore;
  readonly key: string;
}

type Folder = Pick<FolderToWalk, 'dir' | 'held'>;

/** What the setup command left outside of the tree, kept as a copy, and the folder made equal to it again. */
export class SetupCopy {
  readonly #kept: string;
  readonly #caches: readonly string[];
  readonly #own: SetupStore;

  constructor({ kept, caches }: SetupCopyOptions) {
    this.#kept = kept;
    this.#caches = caches;
    this.#own = new SetupStore(kept);
  }

  /** Whether setup never ran for this folder, nor was another's result taken. */
  async isEmpty(): Promise<boolean> {
    return (await this.#own.isEmpty()) && (await readFile(this.#used).catch(() => null)) === null;
  }

  /** Whatever lies outside of the tree by now. */
  outside(folder: Folder): Promise<readonly OutsideEntry[]> {
    return outsideFiles({ ...folder, except: this.#caches });
  }

  /** Keeps what lies outside of the tree by now, as what setup leaves for these inputs. */
  async capture(key: string, folder: Folder): Promise<void> {
    await this.#own.drop(key);
    await this.#own.add(key, await this.outside(folder), { dir: folder.dir, isForAnyFolder: false });
    await this.#own.forget(OWN);
    await this.#remember(folder);
  }

  /** The same for every folder. @returns False when it cannot be another folder's. */
  async share({ store, key }: SharedCopy, folder: Folder): Promise<boolean> {
    const found = await this.outside(folder);
    if (!(await store.add(key, found, { dir: folder.dir, isForAnyFolder: true }))) return false;
    await this.#remember(folder);
    await this.#uses(key);
    return true;
  }

  /**
   * Makes everything outside of the tree as it was captured; with `null`, removes it.
   *
   * @returns False when the copy is not what it was: then nothing can be said, and it is forgotten.
   */
  async restore(key: string | null, folder: Folder): Promise<boolean> {
    if (key !== null) return this.#restoreFrom({ store: this.#own, key }, folder);
    await this.#remove(
      (await this.outside(folder)).map(({ path }) => path),
      folder,
    );
    return true;
  }

  /** {@link restore} from another folder's run of setup. */
  async take(shared: SharedCopy, folder: Folder): Promise<boolean> {
    await shared.store.touch(shared.key);
    if (!(await this.#restoreFrom(shared, folder))) return false;
    await this.#uses(shared.key);
    return true;
  }

  async #restoreFrom({ store, key }: SharedCopy, folder: Folder): Promise<boolean> {
    const kept = await store.find(key);
    if (kept === null) return false;
    const wanted = new Map(fitting(entriesFor(kept, folder), folder).map((entry) => [entry.path, entry]));
    const stamps = await this.#stamps();
    const found = await this.outside(folder);
    const other = found.filter((entry) => !isLike(entry, wanted.get(entry.path), stamps));
    const removed = new Set(other.map(({ path }) => path));
    await this.#remove([...removed], folder);
    const there = new Set(
      found
        .map(({ path }) => path)
        .filter((path) => ![path, ...foldersAround(path)].some((at) => removed.has(at))),
    );
    const missing = [...wanted.values()].filter(({ path }) => !there.has(path));
    if (other.length === 0 && missing.length === 0) return true;
    if (!(await store.areIntact(key, missing))) {
      await store.drop(key);
      return false;
    }
    if (!(await store.copyTo(folder.dir, key, { ...kept, entries: missing }))) return false;
    await this.#remember(folder);
    return true;
  }

  async #remove(paths: readonly string[], { dir }: Folder): Promise<void> {
    const all = new Set(paths);
    for (const path of paths) {
      if (!foldersAround(path).some((at) => all.has(at))) await removeOutside(join(dir, path));
    }
  }

  get #used(): string {
    return join(this.#kept, USED);
  }

  async #uses(key: string): Promise<void> {
    if ((await readFile(this.#used, 'utf8').catch(() => null)) === key) return;
    await makeFolder(this.#kept);
    await writeFile(this.#used, key);
  }

  /**
   * Remembers the files as they are now, once the clock of the file system has moved on: a later change then has another
   * time. One that has the time of now is not remembered, nor one with other names: it could be written by one of them.
   */
  async #remember(folder: Folder): Promise<void> {
    const file = join(this.#kept, 'stamps.json');
    await makeFolder(this.#kept);
    const now = await nextTick(file);
    const settled = (await this.outside(folder)).filter(
      ({ kind, changedNs, isShared }) => kind === 'file' && changedNs < now && !isShared,
    );
    await writeFile(file, JSON.stringify(settled.map(({ path, stamp }) => [path, stamp])));
  }

  async #stamps(): Promise<ReadonlyMap<string, string>> {
    const text = await readFile(join(this.#kept, 'stamps.json'), 'utf8').catch(() => '');
    return new Map(text === '' ? [] : (JSON.parse(text) as [string, string][]));
  }
}

/** In what is kept of a folder: the key of the shared copy that it was given last. */
export const USED = 'shared';

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

/** Links lead into this folder where they led into the one they were made in. */
function entriesFor({ from, entries }: KeptSetup, { dir }: Folder): readonly SetupEntry[] {
  const to = folderName(dir);
  return from === to
    ? entries
    : entries.map((entry) => ({ ...entry, target: entry.target && renamed(entry.target, from, to) }));
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
