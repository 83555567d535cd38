import type { Database } from 'better-sqlite3';
import { openStateCopy } from '../db/createDatabase.ts';
import { execute } from '../db/prepare.ts';
import { DevsError } from '../errors/DevsError.ts';
import { ChildStore } from './ChildStore.ts';
import { doctor } from './doctor.ts';
import { HitlSessionStore } from './HitlSessionStore.ts';
import { RunRemover } from './RunRemover.ts';
import { ThreadStore } from './ThreadStore.ts';

/**
 * The bytes of a state file that has one run of `db` and no other, which nobody holds there. What is no run's goes along: the
 * lines of the decision log, which are a chain, and the items of the store.
 *
 * @param db - An open, migrated state file. Nothing is written to it; a copy of the whole file is in memory meanwhile.
 * @throws DevsError `THREAD_NOT_FOUND`; `CHILD_NOT_TAKEN` for a run with children, or one that is a child: they share a file;
 *   `STATE_CORRUPT` if what would come of it is damaged.
 */
export function extractRun(db: Database, id: string): Buffer {
  new ThreadStore(db).require(id);
  const children = new ChildStore(db);
  if (children.above(id).length > 0 || children.below(id).length > 0) throw ofFamily(id);
  const copy = openStateCopy(db.serialize());
  try {
    new RunRemover(copy, { children: new ChildStore(copy), sessions: new HitlSessionStore(copy) }).keepOnly(
      id,
    );
    new ThreadStore(copy).evict(id);
    execute(copy, 'VACUUM');
    const { ok, findings } = doctor(copy);
    if (!ok) throw extractDamaged(id, findings[0]?.detail ?? '');
    return copy.serialize();
  } finally {
    copy.close();
  }
}

function ofFamily(id: string): DevsError {
  return new DevsError(
    `Run "${id}" has child runs or is a child run, and these must stay in the file of their parent.`,
    {
      code: 'CHILD_NOT_TAKEN',
      remedy: 'Resume the run where it is.',
      context: { threadId: id },
    },
  );
}

function extractDamaged(id: string, detail: string): DevsError {
  return new DevsError(`The file of run "${id}" would be damaged: ${detail}`, {
    code: 'STATE_CORRUPT',
    remedy: 'Run devs admin doctor, then restore a backup of the state file.',
    context: { threadId: id },
  });
}
