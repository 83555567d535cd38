import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

/** Memory that Linux lends as a file system. */
const IN_MEMORY = '/dev/shm';
const PREFIX = 'devs-tests-';

/** Far more than all default tests have there at a time; a container often has 64 MiB. */
const ENOUGH_BYTES = 4 * 2 ** 30;

/** Since when nothing came into a folder that is removed: a container may not see the process of another. */
const LEFT_MS = 60 * 60_000;

/**
 * A folder in memory for what tests write. They wait for a disk as long as they work, and it proves nothing: what a
 * killed process leaves is the same on both.
 *
 * @param chosen - The folder that the owner of the machine wants.
 * @returns Its path; null where the owner chose one, and where there is no such memory or too little.
 */
export function temporaryFolder(chosen: string | undefined): string | null {
  if (chosen !== undefined || !hasMemory()) return null;
  removeLeft(IN_MEMORY);
  return mkdtempSync(join(IN_MEMORY, `${PREFIX}${process.pid}-`));
}

function hasMemory(): boolean {
  if (process.platform !== 'linux' || freemem() < ENOUGH_BYTES) return false;
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}

/** Removes what killed runs left. */
export function removeLeft(memory: string): void {
  for (const name of readdirSync(memory).filter((each) => each.startsWith(PREFIX))) {
    const path = join(memory, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    const isLeft = Date.now() - changed > LEFT_MS && !lives(Number(name.split('-')[2]));
    if (isLeft) rmSync(path, { recursive: true, force: true });
  }
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
