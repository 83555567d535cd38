import type { Database } from 'better-sqlite3';
import { interceptStatements } from './interceptStatements.ts';

/** Kills this process at its n-th write from now on; one for no number lives. */
export function dieAtWrite(db: Database, n: string): void {
  let writes = 0;
  interceptStatements(
    db,
    (work, { readonly }) => {
      writes += readonly ? 0 : 1;
      if (writes === Number(n)) process.kill(process.pid, 'SIGKILL');
      return work();
    },
    { controls: true },
  );
}
