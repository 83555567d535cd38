import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Author } from '@devs/core';

const execute = promisify(execFile);

/** A repository may include a file that never ends. */
const TIMEOUT_MS = 5_000;

/** What ends a line or an address, or is not seen. */
const UNFIT = /[<>\p{Cc}\p{Cf}\p{Z}]+/gu;

/** Longer ones are not shown whole anywhere. */
const MAX_LENGTH = 200;

/**
 * Whom git names in that folder: the person who gets the commits of their runs. Reads two settings and nothing else, so a
 * repository of somebody else's can name a wrong person and do nothing more; `null` where either is missing.
 */
export async function gitIdentity(dir: string): Promise<Author | null> {
  const [name, email] = [await setting(dir, 'user.name'), await setting(dir, 'user.email')];
  return name === null || email === null ? null : { name, email };
}

async function setting(dir: string, name: string): Promise<string | null> {
  try {
    const { stdout } = await execute('git', ['config', '--get', name], {
      cwd: dir,
      timeout: TIMEOUT_MS,
    });
    const value = stdout.replaceAll(UNFIT, ' ').replaceAll(/ +/g, ' ').trim().slice(0, MAX_LENGTH).trim();
    return value === '' ? null : value;
  } catch {
    return null; // it is not set, or git does not trust the folder
  }
}
