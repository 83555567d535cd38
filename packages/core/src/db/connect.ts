import BetterSqlite3, { type Database, type Options } from 'better-sqlite3';
import { assertDriverFits, driverOf, toDriverFault } from './driverFault.ts';

/** The path of a database that ends with its connection. */
export const MEMORY = ':memory:';

let driverFits = false;

/** The driver loads its native part with the first connection. */
export function connect(path: string | Buffer, options?: Options): Database {
  if (!driverFits) {
    assertDriverFits(driverOf(import.meta.url), process.versions.node);
    driverFits = true;
  }
  try {
    return new BetterSqlite3(path, options);
  } catch (error) {
    throw toDriverFault(error) ?? error;
  }
}

/** An empty database in memory without any settings, to try migrations on. */
export function openScratch(): Database {
  return connect(MEMORY);
}
