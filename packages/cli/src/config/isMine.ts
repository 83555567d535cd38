import type { Stats } from 'node:fs';

/** Bits of a mode with which somebody else could write an acceptance into the file. */
const WRITABLE_BY_OTHERS = 0o022;

/** Only this user can write it. Windows tells no owner. */
export function isMine({ uid, mode }: Stats): boolean {
  const me = process.getuid?.();
  return me === undefined || (uid === me && (mode & WRITABLE_BY_OTHERS) === 0);
}
