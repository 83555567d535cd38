import type { Stats } from 'node:fs';
import path from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What `devs` keeps of a user and of no project: `$XDG_STATE_HOME/devs`. As XDG has it, a relative path is none; `null`
 * where the environment names no folder.
 */
export function userStateFolder({ XDG_STATE_HOME, HOME }: Environment): string | null {
  const state = [XDG_STATE_HOME, HOME && path.join(HOME, '.local', 'state')].find(
    (folder) => folder !== undefined && path.isAbsolute(folder),
  );
  return state === undefined ? null : path.join(state, 'devs');
}

/** Where Node.js keeps what it has compiled of `devs`. */
export function compileCacheIn(env: Environment): string | null {
  const folder = userStateFolder(env);
  return folder === null ? null : path.join(folder, 'compiled');
}

/** Bits of a mode with which somebody else could write an acceptance into the file. */
const WRITABLE_BY_OTHERS = 0o022;

/** Only this user can write it. Windows tells no owner. */
export function isMine({ uid, mode }: Stats): boolean {
  const me = process.getuid?.();
  return me === undefined || (uid === me && (mode & WRITABLE_BY_OTHERS) === 0);
}
