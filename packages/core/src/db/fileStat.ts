import { type BigIntStats, statSync } from 'node:fs';
import { toFileFault } from './sqliteFault.ts';

/**
 * What the file system says about a path, without opening it; `undefined` if nothing is there.
 *
 * @throws DevsError `STATE_IO` where it cannot be asked.
 */
export function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    throw toFileFault(error, path);
  }
}
