import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { usageError } from '../usageError.ts';
import { configPath } from './configFile.ts';
import { isMine, userStateFolder } from './userStateFolder.ts';

const schema = z.strictObject({
  version: z.literal(1),
  /** By the real path of a configuration: the SHA-256 of every content of it that was accepted. */
  accepted: z.record(z.string(), z.array(z.string().regex(/^[0-9a-f]{64}$/))),
});

type Trust = Readonly<z.infer<typeof schema>>;

/** Reading and writing takes milliseconds. */
const LOCK_LOOK_MS = 10;
const LOCK_STALE_MS = 5_000;

/**
 * Which configurations this user has accepted: `$XDG_STATE_HOME/devs/trust.json`. An acceptance is of a content in a place: the
 * same words do something else in another folder. Those that several processes give at once are all kept.
 */
export class TrustStore {
  readonly file: string;

  private constructor(file: string) {
    this.file = file;
  }

  /** `null` where the environment names no folder of this user. */
  static of(env: Readonly<Record<string, string | undefined>>): TrustStore | null {
    const folder = userStateFolder(env);
    return folder === null ? null : new TrustStore(path.join(folder, 'trust.json'));
  }

  /**
   * The contents of a project's configuration that were accepted, as SHA-256.
   *
   * @throws DevsError `CONFIG_INVALID` when the file is not this user's alone, or cannot be read.
   */
  async acceptedIn(dir: string): Promise<readonly string[]> {
    const { accepted } = await this.#read();
    return ownEntry(accepted, await trustKey(dir));
  }

  /** @throws DevsError `CONFIG_INVALID` as {@link acceptedIn}, or when the file cannot be written. */
  async accept(dir: string, sha256: string): Promise<void> {
    const key = await trustKey(dir);
    await this.#alone(async () => {
      const { accepted } = await this.#read();
      const others = ownEntry(accepted, key).filter((each) => each !== sha256);
      await this.#write({ version: 1, accepted: { ...accepted, [key]: [...others, sha256] } });
    });
  }

  /**
   * Takes back what was accepted of a project; how many contents that were.
   *
   * @throws DevsError `CONFIG_INVALID` as {@link accept}.
   */
  async revoke(dir: string): Promise<number> {
    const key = await trustKey(dir);
    return this.#alone(async () => {
      const { accepted } = await this.#read();
      const { [key]: revoked = [], ...others } = accepted;
      if (revoked.length > 0) await this.#write({ version: 1, accepted: others });
      return revoked.length;
    });
  }

  /** One process after the other reads and writes. A lock that is old was left by one that died. */
  async #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const lock = `${this.file}.lock`;
    await mkdir(path.dirname(lock), { recursive: true, mode: 0o700 }).catch((error: Error) => {
      throw this.#refused(error.message, error);
    });
    for (const begun = Date.now(); ; await sleep(LOCK_LOOK_MS)) {
      if (await this.#isLocked(lock)) break;
      const { mtimeMs = 0 } = (await stat(lock).catch(() => null)) ?? {};
      if (Math.max(mtimeMs, begun) + LOCK_STALE_MS < Date.now()) await rm(lock, { force: true });
    }
    try {
      return await work();
    } finally {
      await rm(lock, { force: true });
    }
  }

  /** Whether this process has made the lock. */
  async #isLocked(lock: string): Promise<boolean> {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw this.#refused((error as Error).message, error);
    }
  }

  async #read(): Promise<Trust> {
    const text = await this.#text();
    if (text === null) return { version: 1, accepted: {} };
    try {
      return schema.parse(JSON.parse(text));
    } catch (error) {
      throw this.#refused('it is not a valid list', error);
    }
  }

  async #text(): Promise<string | null> {
    let handle: FileHandle | null = null;
    try {
      handle = await open(this.file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const [file, folder] = [await handle.stat(), await stat(path.dirname(this.file))];
      if (!file.isFile()) throw this.#refused('it is not a file');
      if (!isMine(file) || !isMine(folder)) throw this.#refused('another user can write to it');
      return await handle.readFile('utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return null;
      throw code === 'CONFIG_INVALID' ? error : this.#refused((error as Error).message, error);
    } finally {
      await handle?.close();
    }
  }

  async #write(trust: Trust): Promise<void> {
    const folder = path.dirname(this.file);
    const anew = path.join(folder, `.trust-${randomUUID()}`);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      if (!isMine(await stat(folder))) throw new Error('another user can write to its folder');
      const handle = await open(anew, 'wx', 0o600);
      try {
        await handle.writeFile(`${JSON.stringify(trust, null, 2)}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(anew, this.file);
    } catch (error) {
      await rm(anew, { force: true }).catch(() => undefined);
      throw this.#refused((error as Error).message, error);
    }
  }

  #refused(why: string, cause?: unknown) {
    return usageError(
      `Cannot use the list of accepted configurations in ${this.file}: ${why}`,
      `Make ${this.file} and its folder writable by you alone, or remove the file: devs creates a new one.`,
      cause,
    );
  }
}

const ownEntry = (accepted: Trust['accepted'], key: string): readonly string[] =>
  Object.hasOwn(accepted, key) ? (accepted[key] ?? []) : [];

const trustKey = async (dir: string): Promise<string> => configPath(await realpath(dir));
