import { existsSync } from 'node:fs';
import { link, lstat, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitRepository } from './GitRepository.ts';
import { BASE, moveRef, readRef } from './refs.ts';
import type { UserRepository } from './UserRepository.ts';

const FAN_OUT = /^[0-9a-f]{2}$/;
const LOOSE = /^[0-9a-f]{38}$/;
const INDEX = /^(pack-[0-9a-f]{40,64})\.idx$/;

/** Linked at once. */
const BATCH = 64;

/** Git does not flush loose objects by default. What is older than this, ms, the system has written by itself. */
const YOUNG_MS = 600_000;

/** Flushing more files than this, one by one, takes longer than a fetch, which packs them. */
const MOST_YOUNG = 500;

/**
 * Gives a new store all objects of another one as hard links: no byte is copied, and neither store can take them from the
 * other. False where that cannot be, with any part of it done: on two file systems, on one without links, where the other
 * store is not whole in itself, and where too much in it is new.
 *
 * Whoever packs the other store meanwhile removes an object only when it is in a pack. So the packs are looked at last, and
 * one that is gone by then ends it.
 *
 * @param from - `objects` of the other store. A link in it is nobody's to follow.
 * @param to - `objects` of the new store.
 */
export async function linkObjects(from: string, to: string): Promise<boolean> {
  if (existsSync(join(from, 'info', 'alternates'))) return false;
  const flushing = { left: MOST_YOUNG };
  try {
    const folders = (await readdir(from)).filter((name) => FAN_OUT.test(name));
    for (const folder of folders) {
      const names = (await readdir(join(from, folder))).filter((name) => LOOSE.test(name));
      await linkFiles(names, { from: join(from, folder), to: join(to, folder), flushing });
    }
    const packs = { from: join(from, 'pack'), to: join(to, 'pack'), flushing };
    await linkFiles(await packFiles(packs.from), packs);
    return true;
  } catch {
    return false;
  }
}

interface Linking {
  readonly from: string;
  readonly to: string;
  /** Files that may still be flushed. */
  readonly flushing: { left: number };
}

/** Of every pack that is whole; its index is the last that is put beside it. @throws Error where a pack leaves objects out. */
async function packFiles(folder: string): Promise<readonly string[]> {
  const names = new Set(await readdir(folder));
  const packs = [...names].flatMap((name) => INDEX.exec(name)?.[1] ?? []);
  if (packs.some((pack) => names.has(`${pack}.promisor`)))
    throw new Error('Objects are left to another repository.');
  return packs.flatMap((pack) => [`${pack}.pack`, `${pack}.idx`]);
}

async function linkFiles(names: readonly string[], linking: Linking): Promise<void> {
  if (names.length === 0) return;
  await mkdir(linking.to, { recursive: true, mode: 0o700 });
  for (let at = 0; at < names.length; at += BATCH) {
    await Promise.all(names.slice(at, at + BATCH).map((name) => linkFile(name, linking)));
  }
}

async function linkFile(name: string, { from, to, flushing }: Linking): Promise<void> {
  const source = join(from, name);
  const stat = await lstat(source);
  if (!stat.isFile()) throw new Error(`${source} is no file.`);
  if (Date.now() - stat.mtimeMs < YOUNG_MS) {
    flushing.left -= 1;
    if (flushing.left < 0) throw new Error('Too much is new.');
    await flush(source);
  }
  await link(source, join(to, name)).catch((error: NodeJS.ErrnoException) => {
    // Of a start that was killed; a name stands for one content.
    if (error.code !== 'EEXIST') throw error;
  });
}

async function flush(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Brings the commit that the user has checked out into a store that has nothing yet, as {@link BASE}: by hard links, and by
 * a fetch, which copies and packs all of it, where there can be none.
 *
 * @param head - What was checked out before this was called.
 */
export async function bringHead(git: GitRepository, user: UserRepository, head: string): Promise<string> {
  const objects = await user.wholeObjects();
  if (objects !== null && (await linkObjects(objects, join(git.gitDir, 'objects')))) {
    await moveRef(git, BASE, { from: await readRef(git, BASE), to: head });
    return head;
  }
  await user.giveTo(git, `+HEAD:${BASE}`);
  return (await readRef(git, BASE)) ?? head;
}
