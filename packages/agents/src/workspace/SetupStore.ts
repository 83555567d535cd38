import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from './engineFiles.ts';
import { copyEntries, entryAt, type OutsideEntry, removeOutside } from './outsideFiles.ts';

/** The folder of a run as every spelling of its path has it: `.devs-work/RUN.0`. */
export const folderName = (dir: string): string => `${basename(dirname(dir))}/${basename(dir)}`;

/** How a file names a folder: in a text, which can be rewritten, in other bytes, or not at all (`null`). */
async function naming(file: string, folder: string): Promise<'text' | 'bytes' | null> {
  const bytes = await readFile(file);
  if (!bytes.includes(folder)) return null;
  return bytes.includes(0) ? 'bytes' : 'text';
}

/** A text with another folder in the place of one. `RUN.0` is no part of `RUN.01`. */
export function renamed(text: string, from: string, to: string): string {
  const parts = text.split(from);
  return parts.reduce((done, part) => done + (/^[\w-]/.test(part) ? from : to) + part);
}

/** What setup left: an entry as it is copied, without times. */
export interface SetupEntry extends Pick<OutsideEntry, 'path' | 'kind' | 'mode' | 'target'> {
  /** Of the copy: one that was touched since is no copy any more. `null` for what is no file. */
  readonly stamp: string | null;
  /** A text that names the folder it was made in: another folder gets it with its own name. */
  readonly namesFolder?: true;
}

/** What one run of setup left. */
export interface KeptSetup {
  /** The folder it was made in, as `folderName` has it. */
  readonly from: string;
  readonly entries: readonly SetupEntry[];
}

/** Which copies stay: the newest by use, those in use, and what is so young that another process may be at it. */
export interface SetupRetention {
  readonly newest: number;
  readonly inUse: ReadonlySet<string>;
  readonly youngMs: number;
}

const KEY = /^[0-9a-f]{64}$/;

/**
 * Copies of what setup left, by key. A copy comes and goes in one rename, so nobody sees half of one; what a kill leaves
 * has a name that is no key. Files share no storage that a write would change: clones of the file system, or copies.
 */
export class SetupStore {
  readonly #dir: string;

  /** @param dir - Outside of every folder of a run; made when missing. */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** `null` for a key without a copy. */
  async find(key: string): Promise<KeptSetup | null> {
    const text = await readFile(join(this.#dir, key, 'entries.json'), 'utf8').catch(() => '[]');
    const kept = JSON.parse(text) as Partial<KeptSetup>;
    const { from, entries } = kept;
    return from === undefined || entries === undefined ? null : { from, entries };
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.#names()).some((name) => KEY.test(name));
  }

  /**
   * Keeps entries of a folder, unless the key has a copy by now: whoever comes first wins.
   *
   * @param isForAnyFolder - Whether other folders may get them.
   * @returns False where they may, and a file that cannot be rewritten names this one: nothing is kept.
   */
  async add(
    key: string,
    found: readonly OutsideEntry[],
    { dir, isForAnyFolder }: { readonly dir: string; readonly isForAnyFolder: boolean },
  ): Promise<boolean> {
    await makeFolder(this.#dir);
    const staged = join(this.#dir, `.${randomUUID()}`);
    const files = join(staged, 'files');
    try {
      await mkdir(files, { recursive: true });
      const kept = found.filter(({ kind }) => kind !== 'other');
      await copyEntries(kept, { from: dir, to: files });
      const from = folderName(dir);
      const entries: SetupEntry[] = [];
      for (const entry of kept) {
        const names =
          entry.kind === 'file' && isForAnyFolder ? await naming(join(files, entry.path), from) : null;
        if (names === 'bytes') return false;
        entries.push(await setupEntry(entry, { files, namesFolder: names === 'text' }));
      }
      await writeFile(join(staged, 'entries.json'), JSON.stringify({ from, entries } satisfies KeptSetup));
      await rename(staged, join(this.#dir, key)).catch(unlessThere);
      return true;
    } finally {
      await removeOutside(staged);
    }
  }

  /** Whether the copies of these entries are what was kept. */
  async areIntact(key: string, entries: readonly SetupEntry[]): Promise<boolean> {
    const files = join(this.#dir, key, 'files');
    const intact = await Promise.all(
      entries.map(async ({ path, kind, stamp }) => {
        if (kind !== 'file') return true;
        return (await entryAt(files, path).catch(() => null))?.stamp === stamp;
      }),
    );
    return !intact.includes(false);
  }

  /** Puts entries of a copy into a folder. @returns False when it was dropped meanwhile. */
  async copyTo(dir: string, key: string, { from, entries }: KeptSetup): Promise<boolean> {
    const files = join(this.#dir, key, 'files');
    const to = folderName(dir);
    const own = entries.map(({ namesFolder, ...entry }) => ({
      ...entry,
      ...(namesFolder && from !== to && { rewrite: (text: string) => renamed(text, from, to) }),
    }));
    try {
      await copyEntries(own, { from: files, to: dir });
      return true;
    } catch (error) {
      if ((await lstat(files).catch(() => null)) === null) return false;
      throw error;
    }
  }

  /** Counts as used now. */
  async touch(key: string): Promise<void> {
    const now = new Date();
    await utimes(join(this.#dir, key), now, now).catch(() => undefined);
  }

  async drop(key: string): Promise<void> {
    const gone = join(this.#dir, `.${randomUUID()}`);
    await rename(join(this.#dir, key), gone).catch(() => undefined);
    await removeOutside(gone);
  }

  /** Drops what need not stay, and what kills left half made. */
  async forget({ newest, inUse, youngMs }: SetupRetention): Promise<void> {
    const names = await this.#names();
    const found = await Promise.all(
      names.map(async (name) => ({
        name,
        time: (await stat(join(this.#dir, name)).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY,
      })),
    );
    const old = found.filter(({ time }) => Date.now() - time >= youngMs);
    const half = old.filter(({ name }) => name.startsWith('.'));
    const stay = new Set(
      found
        .filter(({ name }) => KEY.test(name))
        .toSorted((a, b) => b.time - a.time)
        .slice(0, newest)
        .map(({ name }) => name),
    );
    const due = old.filter(({ name }) => KEY.test(name) && !stay.has(name) && !inUse.has(name));
    for (const { name } of half) await removeOutside(join(this.#dir, name));
    for (const { name } of due) await this.drop(name);
  }

  #names(): Promise<readonly string[]> {
    return readdir(this.#dir).catch(() => []);
  }
}

async function setupEntry(
  { path, kind, mode, target }: OutsideEntry,
  { files, namesFolder }: { readonly files: string; readonly namesFolder: boolean },
): Promise<SetupEntry> {
  const stamp = kind === 'file' ? (await entryAt(files, path)).stamp : null;
  return { path, kind, mode, target, stamp, ...(namesFolder && { namesFolder }) };
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
}
