import { constants, existsSync } from 'node:fs';
import { link, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const FAN_OUT = /^[0-9a-f]{2}$/;
const LOOSE = /^[0-9a-f]{38}$/;
const INDEX = /^(pack-[0-9a-f]{40,64})\.idx$/;

/** Open at once. */
const BATCH = 64;

/**
 * Gives a new store all objects of another one as hard links: no byte is copied, and neither store can take them from the
 * other. False where that cannot be, with any part of it done: on two file systems, on one without links, and where the
 * other store is not whole in itself.
 *
 * Whoever packs the other store meanwhile removes an object only when it is in a pack. So the packs are looked at last,
 * and one that is gone by then ends it.
 *
 * @param from - `objects` of the other store. What is no object there, links above all, is nobody's to follow.
 * @param to - `objects` of the new store; its folders are on disk, flushed, when this returns.
 */
export async function linkObjects(from: string, to: string): Promise<boolean> {
  if (existsSync(join(from, 'info', 'alternates'))) return false;
  try {
    const folders = (await readdir(from)).filter((name) => FAN_OUT.test(name));
    for (const folder of folders) {
      const names = await readdir(join(from, folder));
      await linkFiles(
        join(from, folder),
        join(to, folder),
        names.filter((name) => LOOSE.test(name)),
      );
    }
    await linkFiles(join(from, 'pack'), join(to, 'pack'), await packFiles(join(from, 'pack')));
    await flush(to);
    return true;
  } catch {
    return false;
  }
}

/** Of every pack that is whole; a pack's index is the last that is put beside it. @throws Error where objects are left out of packs. */
async function packFiles(folder: string): Promise<readonly string[]> {
  const names = new Set(await readdir(folder));
  const packs = [...names].flatMap((name) => INDEX.exec(name)?.[1] ?? []);
  const partial = packs.find((pack) => names.has(`${pack}.promisor`));
  if (partial !== undefined) throw new Error(`${partial} leaves objects to another repository.`);
  return packs.flatMap((pack) => [`${pack}.pack`, `${pack}.idx`]);
}

async function linkFiles(from: string, to: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (let at = 0; at < names.length; at += BATCH) {
    await Promise.all(names.slice(at, at + BATCH).map((name) => linkFile(join(from, name), join(to, name))));
  }
  await flush(to);
}

/** Flushed before it has another name: afterwards each of them would wait for the file system's journal. */
async function linkFile(from: string, to: string): Promise<void> {
  await flush(from);
  await link(from, to).catch((error: NodeJS.ErrnoException) => {
    // Of a start that was killed; a name stands for one content.
    if (error.code !== 'EEXIST') throw error;
  });
}

async function flush(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
