import { constants } from 'node:fs';
import { lstat, mkdir, open, stat } from 'node:fs/promises';
import path from 'node:path';
import { usageError } from '../usageError.ts';
import { isMine, userStateFolder } from './userStateFolder.ts';

/**
 * Which state files this user has made or accepted: a file each, named by its id, in `$XDG_STATE_HOME/devs/state-files`. Those
 * that are made at once by several processes are all kept.
 */
export class KnownStateFiles {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** `null` where the environment names no folder of this user. */
  static of(env: Readonly<Record<string, string | undefined>>): KnownStateFiles | null {
    const folder = userStateFolder(env);
    return folder === null ? null : new KnownStateFiles(path.join(folder, 'state-files'));
  }

  /** @throws DevsError `CONFIG_INVALID` where somebody else could have written that it is known. */
  async has(id: string): Promise<boolean> {
    try {
      const found = await lstat(this.#entry(id));
      if (!found.isFile() || !isMine(found) || !isMine(await stat(this.folder)))
        throw this.#refused('another user can write to it');
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return false;
      throw code === 'CONFIG_INVALID' ? error : this.#refused((error as Error).message, error);
    }
  }

  /** @param file - Where it is now, for whoever looks: it is known anywhere. @throws DevsError `CONFIG_INVALID` */
  async add(id: string, file: string): Promise<void> {
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      if (!isMine(await stat(this.folder))) throw new Error('another user can write to it');
      const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
      const handle = await open(this.#entry(id), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
      try {
        await handle.writeFile(`${file}\n`);
      } finally {
        await handle.close();
      }
    } catch (error) {
      throw this.#refused((error as Error).message, error);
    }
  }

  #entry(id: string): string {
    if (!/^[0-9a-f]{64}$/.test(id))
      throw new RangeError(`The id of a state file must be 64 hex digits, got ${id}.`);
    return path.join(this.folder, id);
  }

  #refused(why: string, cause?: unknown) {
    return usageError(
      `Cannot use the list of your state files in ${this.folder}: ${why}`,
      `Make ${this.folder} and its files writable by you alone, or remove the folder: devs creates a new one.`,
      cause,
    );
  }
}
